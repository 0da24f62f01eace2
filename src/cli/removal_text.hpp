// Shows people what rmi and gc removed.
#pragma once

#include <string>

#include "coracle/images.hpp"

namespace coracle::cli {

// A line for each thing, then the sum; with `dry_run` in words of what would be.
std::string removal_text(const RemovalReport& report, bool dry_run);

}  // namespace coracle::cli

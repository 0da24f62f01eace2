// Prints a plan with every decision in it, for `coracle plan`.
#pragma once

#include <map>
#include <string>

#include "engine/prepared.hpp"

namespace coracle::engine {

// JSON text, two spaces of indent, a final newline. Equal plans give equal text. `limit_sources` is what
// plan::limit_sources says.
std::string explain_plan(const Prepared& prepared, const std::map<std::string, std::string>& limit_sources);

}  // namespace coracle::engine

// Writes live runs as JSON.
#pragma once

#include <string>
#include <vector>

#include "coracle/engine.hpp"

namespace coracle::cli {

// {"runs": [...]}
std::string runs_json(const std::vector<RunInfo>& runs);

}  // namespace coracle::cli

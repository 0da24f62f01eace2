// Looks at the host side of volumes for the plan.
#pragma once

#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

// Error: not_found or denied, naming the flag and the path.
Result<std::vector<plan::VolumeFacts>> look_at_volumes(const std::vector<Volume>& volumes);

// The options of the mount that `path` lies on which a user namespace may not take away.
std::vector<std::string> locked_options_at(const std::string& path);

}  // namespace coracle::engine

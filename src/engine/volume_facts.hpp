// Looks at the host's files that a request names: the host side of volumes, and disks.
#pragma once

#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

// Error: not_found or denied, naming the flag and the path.
Result<std::vector<plan::VolumeFacts>> look_at_volumes(const std::vector<Volume>& volumes);

// "8:0" for each device that a request names by a node, a path on it or its numbers. Error: invalid_request or
// not_found.
Result<std::vector<std::string>> look_at_devices(const std::vector<IoMax>& rates);

// The options of the mount that `path` lies on which a user namespace may not take away.
std::vector<std::string> locked_options_at(const std::string& path);

}  // namespace coracle::engine

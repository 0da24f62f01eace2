// Looks at the host side of volumes for the plan.
#pragma once

#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

// Error: not_found or denied, naming the flag and the path.
Result<std::vector<plan::VolumeFacts>> look_at_volumes(const std::vector<Volume>& volumes);

}  // namespace coracle::engine

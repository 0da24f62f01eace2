// What the configuration's section `images` says, over coracle's own bounds.
#pragma once

#include "layer/limits.hpp"
#include "policy/config.hpp"

namespace coracle::engine {

layer::Limits image_limits(const policy::Config& config);
// Layers at once: the caller's number, else the configuration's, else 3.
unsigned image_parallel(std::optional<unsigned> asked, const policy::Config& config);

}  // namespace coracle::engine

// Looks at the paths of the host that the image `host` shows.
#pragma once

#include <string_view>
#include <vector>

#include "plan/make_plan.hpp"

namespace coracle::engine {

// What of plan::host_image_paths() this host has.
std::vector<plan::HostPlace> look_at_host_places();

// "host" or "host:latest", however it is written.
bool is_host_image(std::string_view ref);

}  // namespace coracle::engine

// The image `host`, which is none: the host's own programs and libraries, without anything of its users.
#pragma once

#include <span>
#include <string_view>

#include "plan/make_plan.hpp"

namespace coracle::plan {

inline constexpr std::string_view host_image_name = "host";

// What the sandbox may see of the host, where the host has it. All of it is read-only.
std::span<const char* const> host_image_paths();

// Configuration, passwd and group. Root's program is nobody unless the caller names another user: as uid 0 it could
// read what belongs to root alone.
ImageFacts host_image_facts(const host::HostFacts& host, std::vector<HostPlace> places);

}  // namespace coracle::plan

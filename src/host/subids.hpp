// Reads the subordinate id ranges of a user, subuid(5) and subgid(5).
#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

#include "host/facts.hpp"

namespace coracle::host {

// Lines that name the uid's login name (looked up in `passwd`) or the uid itself.
std::vector<SubRange> sub_ranges(std::string_view subid_text, std::string_view passwd, uid_t uid);

}  // namespace coracle::host

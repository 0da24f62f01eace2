// Finds the cgroup hierarchies of this host and where in them a run may get its own directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.hpp"

namespace coracle::host {

struct CgroupFacts {
    std::vector<CgroupV1> v1;
    std::optional<CgroupV2> v2;
};

// `mountinfo` and `memberships` are the texts of /proc/self/mountinfo and /proc/self/cgroup; directories are looked at
// below `root` ("/" except in tests).
CgroupFacts read_cgroups(const std::filesystem::path& root, std::string_view mountinfo, std::string_view memberships);

// The service manager of user `uid`, where its bus can be reached and its cgroup is in the hierarchy `v2`.
std::optional<UserManager> find_user_manager(const std::filesystem::path& root, const CgroupV2& v2, uid_t uid);

}  // namespace coracle::host

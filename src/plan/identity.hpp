// Looks up who the program is: the image's USER or the caller's, by name or number, in the image's passwd and group.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "plan/plan.hpp"

namespace coracle::plan {

struct ResolvedUser {
    Identity identity;
    std::string name;  // login name, empty where passwd has no line for the uid
    std::optional<std::string> home;
};

// `spec` is "", "user", "uid", "user:group", "uid:gid", as Docker reads USER: a user without group gets its primary and
// supplementary groups, a bare uid without a passwd line gets gid 0. Error: not_found, naming the user or group.
Result<ResolvedUser> resolve_user(std::string_view spec, std::string_view passwd, std::string_view group);

// `passwd` with a line for the uid added where there is none: without it getpwuid() fails and Python, git and ssh with
// it.
std::string passwd_with(std::string_view passwd, const ResolvedUser& user, std::string_view home);
std::string group_with(std::string_view group, gid_t gid);

}  // namespace coracle::plan

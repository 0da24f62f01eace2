// Runs a function in a child process inside a user namespace with given id maps.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::base {

// `count` ids from `inside` on are `outside` and following in the parent namespace: one line of uid_map(5).
struct IdRange {
    std::uint32_t inside = 0;
    std::uint32_t outside = 0;
    std::uint32_t count = 0;
    bool operator==(const IdRange&) const = default;
};

struct IdMaps {
    std::vector<IdRange> uids;
    std::vector<IdRange> gids;
    bool operator==(const IdMaps&) const = default;
};

// The Error of clone(2) or unshare(2) that asked for a user namespace, with the setting that forbids it and the fix.
Error user_namespace_error(std::string_view act, int os_errno);

// Writes the maps of one id each, which must be the caller's own, of a process by its directory: "/proc/self".
Result<> write_single_id_maps(const std::string& process, const IdRange& uid, const IdRange& gid);

// Writes the maps of `pid` with newuidmap(1) and newgidmap(1), which /etc/subuid and /etc/subgid must allow.
Result<> write_id_maps_by_helpers(pid_t pid, const IdMaps& maps);

// Forks; maps of the caller's own ids alone are written here, others by the helpers above. The child enters a new user
// namespace, becomes its uid 0 and calls `act`; its bytes or its Error come back. glibc's fork keeps malloc usable in
// the child of a program with threads, no other lock may be needed by `act`.
Result<std::string> run_in_userns(const IdMaps& maps, const std::function<Result<std::string>()>& act);

}  // namespace coracle::base

// Starts the runtime in the run's cgroup and sees it through to the container's init.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "runtime/keeper/waiter.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

// The doors into the run's cgroup, opened before its file system is covered.
struct CgroupDoors {
    base::UniqueFd v2_directory;
    std::vector<base::UniqueFd> v1_tasks;
};
Result<CgroupDoors> open_doors(const KeeperCgroup& cgroup);

struct Created {
    pid_t init = -1;
    base::UniqueFd init_pidfd;
};
// Runs the job's runtime to its end; the container's init then waits for its job.
Result<Created> launch(const KeeperJob& job, const CgroupDoors& doors, const Waiter& waiter);

}  // namespace coracle::runtime::keeper

// Assembles the root file system of a run in the keeper's own mount namespace.
#pragma once

#include <string>

#include "coracle/error.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

// Mounts a tmpfs on the stage and makes the folders of stage_paths in it.
Result<> mount_stage(const std::string& stage, const KeeperRootfs& rootfs);

// Mounts the root file system on <stage>/root. Every mount point exists afterwards, where needed in the skeleton below
// the image's layers: the image itself is never written to.
Result<> mount_rootfs(const std::string& stage, const KeeperRootfs& rootfs);

// A /proc of the keeper's pid namespace: the runtime looks its children up there by their pids.
Result<> mount_proc();

// Binds `source` read-only over /sys/fs/cgroup.
Result<> mount_cgroup_view(const std::string& source);

}  // namespace coracle::runtime::keeper

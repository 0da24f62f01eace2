// Starts and owns the keeper of one run: a process in namespaces of its own that dies with this one.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/channel.hpp"
#include "base/userns.hpp"
#include "coracle/error.hpp"

namespace coracle::runtime {

struct KeeperOptions {
    std::filesystem::path program;  // the installed coracle-keeper
    std::string run_id;
    std::filesystem::path runs_dir;                     // holds the run's directory <run_id>
    std::vector<std::filesystem::path> cgroup_parents;  // hold the run's cgroups coracle-<run_id>
    bool new_user_namespace = false;
};

class KeeperProcess {
public:
    // The keeper exists from here on; what is acquired under the run's names afterwards is removed by it if this
    // process dies. `init_end` is init's end of its channel. Waits until exec, not longer.
    static Result<KeeperProcess> start(const KeeperOptions& options, const base::UniqueFd& init_end);

    KeeperProcess(KeeperProcess&&) noexcept = default;
    KeeperProcess& operator=(KeeperProcess&&) = delete;
    ~KeeperProcess();

    const base::Channel& channel() const { return channel_; }
    const base::UniqueFd& pidfd() const { return pidfd_; }
    pid_t pid() const { return pid_; }
    // For IdMapping::subids, before the job is sent.
    Result<> write_id_maps(const base::IdMaps& maps) const { return base::write_id_maps_by_helpers(pid_, maps); }

    // Kills the keeper and with it everything in its pid namespace; true once all of it is gone. False after
    // `patience`: something in there is in uninterruptible sleep.
    bool end(std::chrono::milliseconds patience);

private:
    KeeperProcess(base::UniqueFd pidfd, pid_t pid, base::Channel channel)
        : pidfd_(std::move(pidfd)), pid_(pid), channel_(std::move(channel)) {}

    base::UniqueFd pidfd_;
    pid_t pid_ = -1;
    base::Channel channel_;
};

}  // namespace coracle::runtime

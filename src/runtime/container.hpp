// A container under a keeper: created by the runtime, its init waiting for the one job.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/channel.hpp"
#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "init/protocol.hpp"
#include "runtime/keeper_process.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime {

class Container {
public:
    // Hands the job to the keeper and waits until init is ready. `init` is coracle's end of init's channel. `cancel_fd`
    // (or -1) turning readable, or `deadline` passing, ends the wait with an Error. Errors carry the runtime's own
    // words where it spoke. `meanwhile` is called while the runtime works.
    static Result<Container> create(KeeperProcess keeper, const KeeperJob& job, base::Channel init, int cancel_fd,
                                    std::chrono::steady_clock::time_point deadline,
                                    const std::function<void()>& meanwhile = {});

    const base::Channel& init() const { return init_; }
    const base::Channel& keeper() const { return keeper_.channel(); }
    const KeeperCreated& times() const { return times_; }
    // Of the process that everything in the sandbox descends from.
    pid_t keeper_pid() const { return keeper_.pid(); }

    // The program starts now, with these three descriptors as its stdin, stdout and stderr.
    Result<> start(const init::Job& job, int in, int out, int err) const;
    // To the program's process group, through init.
    void signal(int number) const;
    // SIGKILL to init: the kernel then kills every process of the container's pid namespace.
    void kill() const;
    // Ends keeper and container; false where something in uninterruptible sleep is left after `patience`.
    bool end(std::chrono::milliseconds patience) { return keeper_.end(patience); }

private:
    Container(KeeperProcess keeper, base::Channel init) : keeper_(std::move(keeper)), init_(std::move(init)) {}

    KeeperProcess keeper_;
    base::Channel init_;
    base::UniqueFd init_pidfd_;
    KeeperCreated times_;
};

}  // namespace coracle::runtime

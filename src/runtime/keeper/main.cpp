// coracle-keeper: PID 1 of a run's outer pid namespace. Builds the root file system, starts the runtime, and ends with
// coracle: whatever happens to that process, the kernel takes this namespace and all that lives in it along.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/channel.hpp"
#include "base/files.hpp"
#include "base/reaping.hpp"
#include "base/try.hpp"
#include "base/userns.hpp"
#include "runtime/keeper/estate.hpp"
#include "runtime/keeper/launch.hpp"
#include "runtime/keeper/rootfs.hpp"
#include "runtime/keeper/scratch_watch.hpp"
#include "runtime/keeper/waiter.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

namespace {

using base::Channel;

Result<> become_root(const KeeperJob& job) {
    if (job.ids == KeeperIds::inherited) return {};
    if (job.ids == KeeperIds::self) {
        TRY_OK(base::write_single_id_maps("/proc/self", {.inside = 0, .outside = job.outer_uid, .count = 1},
                                          {.inside = 0, .outside = job.outer_gid, .count = 1}));
    }
    if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) {
        return os_error("become root of the user namespace", errno);
    }
    // The ambient set has carried the capabilities over exec; what is started from here gets them as uid 0.
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return {};
}

std::string text_of(const std::string& path) {
    auto text = base::read_file(path, 64_KiB);
    return text ? std::move(text).value() : std::string();
}

// The keeper's work from job to created; on the way each Error knows its stage.
Result<Created> build(const KeeperJob& job, const Waiter& waiter, KeeperCreated& times) {
    TRY_OK(become_root(job).at(Stage::create));
    TRY(const CgroupDoors doors, open_doors(job.cgroup).at(Stage::cgroup));
    TRY_OK(mount_stage(job.stage, job.rootfs).at(Stage::rootfs));
    TRY_OK(mount_rootfs(job.stage, job.rootfs).at(Stage::rootfs));
    TRY_OK(mount_proc());
    if (!job.cgroup.view.empty()) TRY_OK(mount_cgroup_view(job.cgroup.view).at(Stage::cgroup));
    times.rootfs_done_ns = base::monotonic_ns();
    TRY(Created created, launch(job, doors, waiter).at(Stage::create));
    times.created_ns = base::monotonic_ns();
    return created;
}

void report_exit(int status, const rusage& usage, const Channel& coracle) {
    (void)coracle.send(pack(KeeperExited{.wait_status = status,
                                         .user_us = base::microseconds(usage.ru_utime),
                                         .system_us = base::microseconds(usage.ru_stime),
                                         .max_rss = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}));
}

// Reaps until coracle is gone or closes its end.
void keep(const Created& created, const Waiter& waiter, ScratchWatch scratch, const Channel& coracle) {
    for (;;) {
        int status = 0;
        rusage usage{};
        for (pid_t ended = 0; (ended = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
            if (ended == created.init) report_exit(status, usage, coracle);
        }
        // The only message after the job is the end of the channel.
        const Event event = waiter.next(scratch.milliseconds());
        if (event == Event::time) {
            if (const auto overflow = scratch.look()) (void)coracle.send(pack(*overflow));
        }
        if (event == Event::coracle_message || event == Event::coracle_gone) return;
    }
}

// A coracle that lives kills its keeper when it needs it no more. One that dies closes its channel a moment before its
// pidfd tells (exit_files() comes before exit_notify()), so the end of the channel is not yet the answer: wait for it.
bool coracle_is_gone() {
    constexpr int patience_ms = 10'000;
    pollfd wait{keeper_supervisor_fd, POLLIN, 0};
    return ::poll(&wait, 1, patience_ms) != 0;
}

// All that lives in this namespace dies and is reaped, so that the cgroups are empty.
void end_everything() {
    ::kill(-1, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) continue;
}

// The scratch on disk that the job names comes back: a dead coracle's is the keeper's to remove.
std::string live(const Channel& coracle) {
    const Waiter waiter;
    const auto message = coracle.receive(64_MiB);
    if (!message || !message.value()) return {};
    const auto job = unpack_keeper_job(message.value()->bytes);
    if (!job) return {};
    KeeperCreated times;
    auto created = build(*job, waiter, times);
    if (!created) {
        const StagePaths paths = stage_paths(job->stage);
        (void)coracle.send(pack(KeeperFailed{.error = std::move(created).error(),
                                             .runtime_log = text_of(paths.log),
                                             .runtime_stderr = text_of(paths.stderr_file)}));
        return job->rootfs.scratch;
    }
    (void)coracle.send(pack(times), {created.value().init_pidfd.get()});
    keep(created.value(), waiter, ScratchWatch(job->rootfs), coracle);
    return job->rootfs.scratch;
}

}  // namespace
}  // namespace coracle::runtime::keeper

int main(int argc, char** argv) {
    using namespace coracle::runtime;
    if (argc < 3) return 2;
    ::fcntl(keeper_channel_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(keeper_supervisor_fd, F_SETFD, FD_CLOEXEC);
    const keeper::Estate estate(argc, argv);
    const std::string scratch = keeper::live(coracle::base::Channel(coracle::base::UniqueFd(keeper_channel_fd)));
    if (keeper::coracle_is_gone()) {
        keeper::end_everything();
        if (!scratch.empty()) (void)coracle::base::remove_tree_at(AT_FDCWD, scratch);
        estate.remove();
    }
    return 0;
}

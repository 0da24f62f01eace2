// coracle-keeper: PID 1 of a run's outer pid namespace. Builds the root file system, starts the runtime, and ends with
// coracle: whatever happens to that process, the kernel takes this namespace and all that lives in it along.
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>

#include "base/channel.hpp"
#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "runtime/keeper/rootfs.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

namespace {

using base::Channel;
using base::UniqueFd;

std::int64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// What the run owns outside this namespace, by name: removed here when coracle is gone and cannot do it.
class Estate {
public:
    // argv: program, run id, runs directory, parents of the run's cgroup. Opened now, before any mount hides them.
    Estate(int argc, char** argv) : id_(argv[1]), stage_(std::string(argv[2]) + "/" + id_ + "/stage") {
        for (int i = 2; i < argc; ++i) parents_.emplace_back(::open(argv[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    void remove() const {
        for (std::size_t i = 1; i < parents_.size(); ++i) remove_cgroup(parents_[i]);
        ::umount2(stage_.c_str(), MNT_DETACH);
        (void)base::remove_tree_at(parents_.front().get(), id_);
    }

private:
    // EBUSY for a moment after the last process has gone.
    void remove_cgroup(const UniqueFd& parent) const {
        const std::string name = "coracle-" + id_;
        for (int tries = 0; tries < 200; ++tries) {
            if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY) return;
            ::usleep(1000);
        }
    }

    std::string id_;
    std::string stage_;
    std::vector<UniqueFd> parents_;  // the runs directory first
};

Result<> become_root(const KeeperJob& job) {
    if (job.ids == KeeperIds::inherited) return {};
    if (job.ids == KeeperIds::self) {
        const auto line = [](unsigned outer) { return "0 " + std::to_string(outer) + " 1\n"; };
        // Without it an unprivileged process may not write gid_map (user_namespaces(7)).
        TRY_OK(base::write_value_at(AT_FDCWD, "/proc/self/setgroups", "deny"));
        TRY_OK(base::write_value_at(AT_FDCWD, "/proc/self/uid_map", line(job.outer_uid)));
        TRY_OK(base::write_value_at(AT_FDCWD, "/proc/self/gid_map", line(job.outer_gid)));
    }
    if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) {
        return os_error("become root of the user namespace", errno);
    }
    // The ambient set has carried the capabilities over exec; what is started from here gets them as uid 0.
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return {};
}

// The doors into the run's cgroup, opened before its file system is covered.
struct CgroupDoors {
    UniqueFd v2_directory;
    std::vector<UniqueFd> v1_tasks;
};

Result<CgroupDoors> open_doors(const KeeperCgroup& cgroup) {
    CgroupDoors doors;
    if (!cgroup.v2_directory.empty()) {
        TRY(doors.v2_directory, base::open_file_at(AT_FDCWD, cgroup.v2_directory, O_PATH | O_DIRECTORY));
    }
    for (const std::string& file : cgroup.v1_tasks) {
        TRY(UniqueFd tasks, base::open_file_at(AT_FDCWD, file, O_WRONLY));
        doors.v1_tasks.push_back(std::move(tasks));
    }
    return doors;
}

// A child that is born inside the v2 cgroup: moving a process there afterwards costs an RCU grace period, 7 to 13 ms.
pid_t fork_into(const CgroupDoors& doors) {
    clone_args args{};
    args.exit_signal = SIGCHLD;
    if (doors.v2_directory) {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = static_cast<unsigned long long>(doors.v2_directory.get());
    }
    return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

// Exit statuses of our own code before exec; the runtimes use 0 and 1.
constexpr int cannot_enter_cgroup = 124;
constexpr int cannot_execute = 127;

[[noreturn]] void become_runtime(const KeeperJob& job, const CgroupDoors& doors, int stderr_fd) {
    for (const UniqueFd& tasks : doors.v1_tasks) {
        // "0" is the writer itself: the cheap way in on v1.
        if (::write(tasks.get(), "0", 1) != 1) ::_exit(cannot_enter_cgroup);
    }
    ::dup2(stderr_fd, STDERR_FILENO);
    ::dup2(keeper_init_fd, 3);
    ::close_range(4, ~0U, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::vector<std::string> words = job.runtime_argv;
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<char*, 2> env{const_cast<char*>("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
                             nullptr};
    ::execve(argv[0], argv.data(), env.data());
    ::_exit(cannot_execute);
}

Error launch_error(const std::string& runtime, int status) {
    const std::string name = "the runtime '" + runtime + "'";
    if (WIFSIGNALED(status)) {
        return make_error(ErrorCode::internal, name + " died by signal " + std::to_string(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == cannot_enter_cgroup)
        return make_error(ErrorCode::denied, "cannot enter the run's cgroup");
    if (WEXITSTATUS(status) == cannot_execute) {
        return make_error(ErrorCode::not_found, name + " cannot be executed",
                          "install runc, or name another --runtime");
    }
    if (WEXITSTATUS(status) == 0)  // /bin/true takes any arguments
        return make_error(ErrorCode::unsupported, name + " created no container", "name an OCI runtime by --runtime");
    return make_error(ErrorCode::internal, name + " exited with " + std::to_string(WEXITSTATUS(status)));
}

enum class Event { child, coracle_message, coracle_gone };

// Waits for SIGCHLD or for coracle's end.
class Waiter {
public:
    Waiter() {
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sigset_t child;
        ::sigemptyset(&child);
        ::sigaddset(&child, SIGCHLD);
        child_signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC));
    }

    Event next() const {
        std::array<pollfd, 3> waits{
            {{keeper_supervisor_fd, POLLIN, 0}, {child_signals_.get(), POLLIN, 0}, {keeper_channel_fd, POLLIN, 0}}};
        while (::poll(waits.data(), waits.size(), -1) < 0) continue;
        if (waits[0].revents != 0) return Event::coracle_gone;
        if (waits[1].revents != 0) {
            signalfd_siginfo ignored{};
            (void)!::read(child_signals_.get(), &ignored, sizeof ignored);
            return Event::child;
        }
        return Event::coracle_message;
    }

private:
    UniqueFd child_signals_;
};

Result<int> wait_for_runtime(pid_t pid, const Waiter& waiter) {
    for (;;) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) return status;
        if (waiter.next() != Event::child) return make_error(ErrorCode::unavailable, "coracle is gone");
    }
}

struct Created {
    pid_t init = -1;
    UniqueFd init_pidfd;
};

Result<Created> launch(const KeeperJob& job, const CgroupDoors& doors, const Waiter& waiter) {
    const StagePaths paths = stage_paths(job.stage);
    TRY(const UniqueFd stderr_fd, base::open_file_at(AT_FDCWD, paths.stderr_file, O_RDWR | O_CREAT, 0600));
    const pid_t pid = fork_into(doors);
    if (pid < 0) return os_error("start a process in the run's cgroup", errno);
    if (pid == 0) become_runtime(job, doors, stderr_fd.get());
    ::close(keeper_init_fd);
    TRY(const int status, wait_for_runtime(pid, waiter));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return launch_error(job.runtime_argv.front(), status);
    auto pid_text = base::read_file(paths.pid_file, 64_KiB);
    if (!pid_text && pid_text.error().os_errno == ENOENT) return launch_error(job.runtime_argv.front(), status);
    TRY(const std::string text, std::move(pid_text));
    Created created;
    std::from_chars(text.data(), text.data() + text.size(), created.init);
    created.init_pidfd = base::open_pidfd(created.init);
    if (!created.init_pidfd) return os_error("open the pidfd of init " + text, errno);
    return created;
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
    times.rootfs_done_ns = monotonic_ns();
    TRY(Created created, launch(job, doors, waiter).at(Stage::create));
    times.created_ns = monotonic_ns();
    return created;
}

void report_exit(int status, const rusage& usage, const Channel& coracle) {
    const auto microseconds = [](const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
    (void)coracle.send(pack(KeeperExited{.wait_status = status,
                                         .user_us = microseconds(usage.ru_utime),
                                         .system_us = microseconds(usage.ru_stime),
                                         .max_rss = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}));
}

// Reaps until coracle is gone or closes its end.
void keep(const Created& created, const Waiter& waiter, const Channel& coracle) {
    for (;;) {
        int status = 0;
        rusage usage{};
        for (pid_t ended = 0; (ended = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
            if (ended == created.init) report_exit(status, usage, coracle);
        }
        // The only message after the job is the end of the channel.
        if (waiter.next() != Event::child) return;
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

void live(const Channel& coracle) {
    const Waiter waiter;
    const auto message = coracle.receive(64_MiB);
    if (!message || !message.value()) return;
    const auto job = unpack_keeper_job(message.value()->bytes);
    if (!job) return;
    KeeperCreated times;
    auto created = build(*job, waiter, times);
    if (!created) {
        const StagePaths paths = stage_paths(job->stage);
        (void)coracle.send(pack(KeeperFailed{.error = std::move(created).error(),
                                             .runtime_log = text_of(paths.log),
                                             .runtime_stderr = text_of(paths.stderr_file)}));
        return;
    }
    (void)coracle.send(pack(times), {created.value().init_pidfd.get()});
    keep(created.value(), waiter, coracle);
}

}  // namespace
}  // namespace coracle::runtime::keeper

int main(int argc, char** argv) {
    using namespace coracle::runtime;
    if (argc < 3) return 2;
    ::fcntl(keeper_channel_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(keeper_supervisor_fd, F_SETFD, FD_CLOEXEC);
    const keeper::Estate estate(argc, argv);
    keeper::live(coracle::base::Channel(coracle::base::UniqueFd(keeper_channel_fd)));
    if (keeper::coracle_is_gone()) {
        keeper::end_everything();
        estate.remove();
    }
    return 0;
}

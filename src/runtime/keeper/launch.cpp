// Implements the start of the runtime.
#include "runtime/keeper/launch.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"

namespace coracle::runtime::keeper {

using base::UniqueFd;

namespace {

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

Result<int> wait_for_runtime(pid_t pid, const Waiter& waiter) {
    for (;;) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) return status;
        if (waiter.next() != Event::child) return make_error(ErrorCode::unavailable, "coracle is gone");
    }
}

}  // namespace

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

}  // namespace coracle::runtime::keeper

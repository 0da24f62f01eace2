// Implements the keeper's birth: clone(2) with vfork semantics into new namespaces, then exec of its own program.
#include "runtime/keeper_process.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "runtime/keeper_protocol.hpp"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace coracle::runtime {

namespace {

using base::UniqueFd;

// What the child needs, prepared before clone: between clone and exec it shares this process's memory and may neither
// allocate nor take a lock.
struct Birth {
    const char* program = nullptr;
    char* const* argv = nullptr;
    std::array<int, 3> fds{};  // become 3, 4, 5
    bool new_user_namespace = false;
    int error = 0;  // written by the child where exec fails
};

// exec would take the capabilities of a process whose uid is not mapped yet; the ambient set carries them over it
// (capabilities(7), "Ambient").
void keep_capabilities_over_exec() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0) return;
    for (auto& word : data) word.inheritable = word.permitted;
    if (::syscall(SYS_capset, &header, data.data()) != 0) return;
    for (unsigned long capability = 0; capability < 64; ++capability) {
        ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
    }
}

int become_keeper(void* argument) {
    Birth& birth = *static_cast<Birth*>(argument);
    // Above the targets first, so that no source is overwritten before its turn.
    std::array<int, 3> parked{};
    for (std::size_t i = 0; i < parked.size(); ++i) parked[i] = ::fcntl(birth.fds[i], F_DUPFD, 16);
    const int null = ::open("/dev/null", O_RDWR);
    for (int target = 0; target < 3; ++target) ::dup2(null, target);
    for (std::size_t i = 0; i < parked.size(); ++i) ::dup2(parked[i], 3 + static_cast<int>(i));
    ::close_range(3 + static_cast<unsigned>(parked.size()), ~0U, 0);
    if (birth.new_user_namespace) keep_capabilities_over_exec();
    std::array<char*, 1> env{nullptr};
    ::execve(birth.program, birth.argv, env.data());
    birth.error = errno;
    ::_exit(127);
}

// All signals blocked while the child shares our memory: no handler of the embedding program may run in it.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

struct Child {
    pid_t pid = -1;
    UniqueFd pidfd;
};

Result<Child> give_birth(Birth& birth) {
    // Without an exit signal: an embedding program's waitpid(-1) must not take our child (clone(2), __WCLONE).
    int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_NEWPID | CLONE_NEWNS;
    if (birth.new_user_namespace) flags |= CLONE_NEWUSER;
    alignas(16) std::array<char, 64 * 1024> stack;
    int pidfd = -1;
    const SignalsBlocked blocked;
    const pid_t pid = ::clone(become_keeper, stack.data() + stack.size(), flags, &birth, &pidfd);
    if (pid < 0 && birth.new_user_namespace) return base::user_namespace_error("clone the keeper", errno);
    if (pid < 0) return os_error("clone the keeper", errno);
    return Child{pid, UniqueFd(pidfd)};
}

bool wait_ended(const UniqueFd& pidfd, std::chrono::milliseconds patience) {
    pollfd wait{pidfd.get(), POLLIN, 0};
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (ready > 0) break;
        if (ready == 0 || errno != EINTR) return false;
    }
    siginfo_t info{};
    ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd.get()), &info, WEXITED | __WALL);
    return true;
}

}  // namespace

Result<KeeperProcess> KeeperProcess::start(const KeeperOptions& options, const UniqueFd& init_end) {
    TRY(auto ends, base::Channel::make_pair());
    const UniqueFd self = base::open_pidfd(::getpid());
    if (!self) return os_error("pidfd_open", errno);

    std::vector<std::string> words{"coracle-keeper", options.run_id, options.runs_dir.string()};
    for (const auto& parent : options.cgroup_parents) words.push_back(parent.string());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    Birth birth{.program = options.program.c_str(),
                .argv = argv.data(),
                .fds = {ends.second.fd(), self.get(), init_end.get()},
                .new_user_namespace = options.new_user_namespace};
    auto child = give_birth(birth);
    if (!child) return std::move(child).error();
    KeeperProcess keeper(std::move(child.value().pidfd), child.value().pid, std::move(ends.first));
    if (birth.error == EACCES) {
        return os_error("execute '" + options.program.string() + "'", birth.error)
            .with_hint("the store must not lie on a file system that is mounted noexec: choose another with --store");
    }
    if (birth.error != 0) return os_error("execute '" + options.program.string() + "'", birth.error);
    return keeper;
}

KeeperProcess::~KeeperProcess() {
    if (pidfd_) end(std::chrono::milliseconds(2000));
}

bool KeeperProcess::end(std::chrono::milliseconds patience) {
    if (!pidfd_) return true;
    (void)base::send_signal(pidfd_, SIGKILL);
    const bool ended = wait_ended(pidfd_, patience);
    pidfd_.reset();
    return ended;
}

}  // namespace coracle::runtime

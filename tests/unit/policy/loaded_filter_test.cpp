// The compiled default filter, loaded into a real process: the kernel itself gives the answers.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "policy/bpf.hpp"

namespace coracle::policy {
namespace {

// How a child ends that loads `program` and then calls `act`: its wait status. 99: the filter did not load.
int confined(const std::string& program, int (*act)()) {
    std::vector<sock_filter> steps(program.size() / sizeof(sock_filter));
    std::memcpy(steps.data(), program.data(), program.size());
    const pid_t child = ::fork();
    if (child == 0) {
        const sock_fprog filter{.len = static_cast<unsigned short>(steps.size()), .filter = steps.data()};
        const bool loaded = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                            ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
        ::_exit(loaded ? act() : 99);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

// The errno that `act` met under the default profile, 0 for success.
int errno_under_default(int (*act)()) {
    const int status = confined(compile_bpf(find_seccomp("default").value()).value(), act);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    return WEXITSTATUS(status);
}

int outcome(long answer) { return answer >= 0 ? 0 : errno; }

TEST(LoadedFilter, OrdinaryWorkGoesOn) {
    EXPECT_EQ(errno_under_default([] { return outcome(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }), 0);
    EXPECT_EQ(errno_under_default([] { return outcome(::access("/", R_OK)); }), 0);
    EXPECT_EQ(errno_under_default([] {
                  const pid_t child = ::fork();
                  if (child == 0) ::_exit(0);
                  return outcome(::waitpid(child, nullptr, 0));
              }),
              0);
}

TEST(LoadedFilter, DeniedCallsAnswerEperm) {
    EXPECT_EQ(errno_under_default([] { return outcome(::unshare(CLONE_NEWUSER)); }), EPERM);
    EXPECT_EQ(errno_under_default([] { return outcome(::mount("none", "/nowhere", "tmpfs", 0, nullptr)); }), EPERM);
    EXPECT_EQ(errno_under_default([] { return outcome(::syscall(SYS_io_uring_setup, 0, nullptr)); }), EPERM);
    EXPECT_EQ(errno_under_default([] { return outcome(::syscall(SYS_clone, CLONE_NEWUSER, 0, 0, 0, 0)); }), EPERM);
    EXPECT_EQ(errno_under_default([] { return outcome(::ioctl(-1, TIOCSTI, "x")); }), EPERM);
}

TEST(LoadedFilter, AllowedCallsMeetTheKernelsOwnAnswer) {
    EXPECT_EQ(errno_under_default([] { return outcome(::ioctl(-1, TIOCGWINSZ, nullptr)); }), EBADF);
}

TEST(LoadedFilter, UnknownCallsAnswerEnosys) {
    EXPECT_EQ(errno_under_default([] { return outcome(::syscall(9999)); }), ENOSYS);
    EXPECT_EQ(errno_under_default([] { return outcome(::syscall(SYS_clone3, nullptr, 0)); }), ENOSYS);
    EXPECT_EQ(errno_under_default([] { return outcome(::socket(AF_ALG, SOCK_SEQPACKET, 0)); }), EAFNOSUPPORT);
}

#if defined(__x86_64__)
TEST(LoadedFilter, AnI386CallEndsTheProcess) {
    const auto sanitizers = std::signal(SIGSEGV, SIG_DFL);  // they would make an exit status of the signal
    const int status = confined(compile_bpf(find_seccomp("default").value()).value(), [] {
        long answer = 20;  // getpid on i386
        asm volatile("int $0x80" : "+a"(answer) : : "memory");
        return 0;
    });
    std::signal(SIGSEGV, sanitizers);
    // A kernel without ia32 emulation answers with SIGSEGV: no way in either.
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_TRUE(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV) << WTERMSIG(status);
}
#endif

}  // namespace
}  // namespace coracle::policy

// What the default profile answers to the calls that matter, by running its compiled program.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "policy/bpf.hpp"
#include "support/bpf_machine.hpp"

namespace coracle::policy {
namespace {

using testing::answer_of;
using testing::native_call;

const std::string eperm = "errno " + std::to_string(EPERM);
const std::string enosys = "errno " + std::to_string(ENOSYS);
const std::string no_family = "errno " + std::to_string(EAFNOSUPPORT);
constexpr std::uint64_t high_bit = std::uint64_t{1} << 32U;

std::string compiled(const std::vector<std::string>& capabilities = {}) {
    return compile_bpf(find_seccomp("default", capabilities).value()).value();
}

class DefaultProfile : public ::testing::Test {
protected:
    static void SetUpTestSuite() { program_ = compiled(); }
    static std::string answer(std::string_view name, std::array<std::uint64_t, 6> args = {}) {
        return answer_of(program_, native_call(name, args));
    }
    static inline std::string program_;
};

TEST_F(DefaultProfile, LetsOrdinaryProgramsRun) {
    for (const char* name : {"read", "openat", "execve", "mmap", "futex", "epoll_wait", "pidfd_open", "rseq", "statx",
                             "getrandom", "close_range", "landlock_create_ruleset", "ptrace", "prctl", "wait4"}) {
        EXPECT_EQ(answer(name), "allow") << name;
    }
}

TEST_F(DefaultProfile, DeniesWhatReachesBeyondTheSandbox) {
    for (const char* name :
         {"mount",          "umount2",        "pivot_root",        "move_mount",      "bpf",     "kexec_load",
          "keyctl",         "add_key",        "userfaultfd",       "perf_event_open", "unshare", "setns",
          "io_uring_setup", "io_uring_enter", "open_by_handle_at", "swapon",          "reboot",  "init_module",
          "finit_module",   "chroot",         "process_vm_writev", "pidfd_getfd",     "syslog",  "clock_settime"}) {
        EXPECT_EQ(answer(name), eperm) << name;
    }
}

TEST_F(DefaultProfile, AnswersUnknownCallsAsAnOldKernelWould) {
    EXPECT_EQ(answer_of(program_, {.arch = ::seccomp_arch_native(), .number = 9999, .args = {}}), enosys);
    EXPECT_EQ(answer("clone3"), enosys);
    EXPECT_EQ(answer("mbind"), enosys);
    EXPECT_EQ(answer("memfd_secret"), enosys);
}

TEST_F(DefaultProfile, CloneMakesThreadsButNoNamespaces) {
    const std::uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
    EXPECT_EQ(answer("clone", {thread}), "allow");
    EXPECT_EQ(answer("clone", {SIGCHLD}), "allow");
    for (const std::uint64_t flag : std::initializer_list<std::uint64_t>{
             CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
        EXPECT_EQ(answer("clone", {flag | SIGCHLD}), eperm) << flag;
        EXPECT_EQ(answer("clone", {flag | thread | high_bit}), eperm) << flag;
    }
    EXPECT_EQ(answer("clone", {CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID}), eperm);
}

TEST_F(DefaultProfile, TerminalInputCannotBeForgedWhateverTheHighBits) {
    for (const std::uint64_t command : std::initializer_list<std::uint64_t>{TIOCSTI, TIOCLINUX}) {
        EXPECT_EQ(answer("ioctl", {0, command}), eperm);
        EXPECT_EQ(answer("ioctl", {0, command | high_bit}), eperm);
        EXPECT_EQ(answer("ioctl", {0, command | 0xffffffff00000000}), eperm);
    }
}

TEST_F(DefaultProfile, EveryOtherIoctlIsAllowed) {
    for (std::uint64_t command = 0; command < 0x10000; ++command) {
        if (command == TIOCSTI || command == TIOCLINUX) continue;
        ASSERT_EQ(answer("ioctl", {0, command}), "allow") << command;
    }
    EXPECT_EQ(answer("ioctl", {0, 0xffffffff}), "allow");
    EXPECT_EQ(answer("ioctl", {0, 0xc0105412}), "allow");
}

TEST_F(DefaultProfile, SocketsHaveFourFamilies) {
    for (std::uint64_t family = 0; family < 100; ++family) {
        const bool good = family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
        EXPECT_EQ(answer("socket", {family}), good ? "allow" : no_family) << family;
        EXPECT_EQ(answer("socketpair", {family}), good ? "allow" : no_family) << family;
    }
    EXPECT_EQ(answer("socket", {AF_ALG | high_bit}), no_family);
    EXPECT_EQ(answer("socket", {AF_VSOCK | high_bit}), no_family);
}

TEST_F(DefaultProfile, PersonalityCannotUndoDefences) {
    for (const std::uint64_t harmless : {0x0UL, 0x8UL, 0x20000UL, 0x20008UL, 0xffffffffUL, ~0UL}) {
        EXPECT_EQ(answer("personality", {harmless}), "allow") << harmless;
    }
    for (const std::uint64_t harmful : {ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, MMAP_PAGE_ZERO}) {
        EXPECT_EQ(answer("personality", {harmful}), eperm) << harmful;
    }
}

#if defined(__x86_64__)
TEST_F(DefaultProfile, CallsOfOtherArchitecturesEndTheProcess) {
    EXPECT_EQ(answer_of(program_, {.arch = AUDIT_ARCH_I386, .number = 20, .args = {}}), "kill_process");
    constexpr int x32_bit = 0x40000000;  // __X32_SYSCALL_BIT, arch/x86/include/uapi/asm/unistd.h
    EXPECT_EQ(answer_of(program_, {.arch = AUDIT_ARCH_X86_64, .number = 39 | x32_bit, .args = {}}), "kill_process");
}
#endif

TEST_F(DefaultProfile, ACapabilityOpensWhatItIsFor) {
    const std::string chroot = compiled({"CAP_SYS_CHROOT"});
    EXPECT_EQ(answer_of(chroot, native_call("chroot")), "allow");
    EXPECT_EQ(answer_of(chroot, native_call("mount")), eperm);
    const std::string admin = compiled({"CAP_SYS_ADMIN"});
    EXPECT_EQ(answer_of(admin, native_call("mount")), "allow");
    EXPECT_EQ(answer_of(admin, native_call("clone", {CLONE_NEWUSER})), "allow");
    EXPECT_EQ(answer_of(admin, native_call("chroot")), eperm);
    EXPECT_EQ(answer_of(admin, native_call("clone3")), enosys);
    const std::string raw = compiled({"CAP_NET_RAW"});
    EXPECT_EQ(answer_of(raw, native_call("socket", {AF_PACKET})), "allow");
    EXPECT_EQ(answer_of(raw, native_call("socket", {AF_ALG})), no_family);
}

TEST_F(DefaultProfile, FitsWellIntoTheKernelsLimit) { EXPECT_LT(program_.size() / 8, 1500U); }

TEST_F(DefaultProfile, NamesOnlyCallsThatExist) {
    // Younger than the libseccomp of Debian 12, and known to be real: mseal(2), Linux 6.10.
    const std::set<std::string> younger{"mseal"};
    const SeccompProfile profile = find_seccomp("default").value();
    for (const SeccompRule& rule : profile.rules) {
        for (const std::string& name : rule.names) {
            const bool known = ::seccomp_syscall_resolve_name(name.c_str()) != __NR_SCMP_ERROR;
            EXPECT_TRUE(known || younger.contains(name)) << name;
        }
    }
}

}  // namespace
}  // namespace coracle::policy

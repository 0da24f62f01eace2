// coracle-init: PID 1 of every sandbox. Waits for one job, runs it, reaps, passes signals on, reports exactly.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/channel.hpp"
#include "base/reaping.hpp"
#include "base/syscalls.hpp"
#include "init/program/held.hpp"
#include "init/protocol.hpp"

namespace coracle::init {

namespace {

using base::Channel;
using base::UniqueFd;

// A job larger than the kernel takes in argv and env (2 MiB) could not be executed anyway.
constexpr Bytes most_job = 8_MiB;

std::vector<char*> c_array(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// A CPU that has gone meanwhile is passed over by the kernel; what came of it is read back.
void set_affinity(const std::vector<unsigned>& cpus) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const unsigned cpu : cpus) CPU_SET(cpu, &mask);
    if (!cpus.empty()) (void)::sched_setaffinity(0, sizeof mask, &mask);
}

// A hard limit that is lower already stays: raising it takes CAP_SYS_RESOURCE. One second between the soft limit, whose
// SIGXCPU tells what it was, and the hard one with SIGKILL. What came of it is read back.
void limit_processor_time(std::uint64_t seconds) {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_max = std::min<rlim_t>(seconds + 1, limit.rlim_max);
    limit.rlim_cur = std::min<rlim_t>(seconds, limit.rlim_max);
    (void)::setrlimit(RLIMIT_CPU, &limit);
}

// The program's process reports over a close-on-exec channel: what it holds, then, only if something fails, what.
class Reporter {
public:
    explicit Reporter(Channel channel) : channel_(std::move(channel)) {}
    void say(std::string_view bytes) const { (void)channel_.send(bytes); }
    [[noreturn]] void fail(Failed::Step step) const {
        say(pack(Failed{.step = step, .os_errno = errno}));
        ::_exit(127);
    }

private:
    Channel channel_;
};

bool load_filter(const std::string& bytes) {
    sock_fprog program{};
    program.len = static_cast<unsigned short>(bytes.size() / sizeof(sock_filter));
    program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(bytes.data()));
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// What execvp would do, with the PATH of the job and not of this process: EACCES is remembered while searching on.
void exec_searching(const std::string& program, char* const* argv, char* const* env, std::string_view path) {
    if (program.find('/') != std::string::npos) {
        ::execve(program.c_str(), argv, env);
        return;
    }
    int cause = ENOENT;
    while (!path.empty()) {
        const std::size_t colon = path.find(':');
        const std::string directory(path.substr(0, colon));
        path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
        ::execve(((directory.empty() ? "." : directory) + "/" + program).c_str(), argv, env);
        if (errno != ENOENT && errno != ENOTDIR) {
            cause = errno;
            if (errno != EACCES) break;
        }
    }
    errno = cause;
}

std::string_view path_of(const std::vector<std::string>& env) {
    for (const std::string& entry : env) {
        if (entry.starts_with("PATH=")) return std::string_view(entry).substr(5);
    }
    return {};
}

[[noreturn]] void become_program(Job& job, const std::vector<UniqueFd>& stdio, const Reporter& reporter) {
    // A session of its own: no controlling terminal whose input it could fake, one group for signals.
    ::setsid();
    reset_signals();
    for (int target = 0; target < 3; ++target) {
        if (::dup2(stdio[static_cast<std::size_t>(target)].get(), target) < 0) reporter.fail(Failed::Step::stdio);
    }
    set_affinity(job.cpus);
    if (job.cpu_seconds) limit_processor_time(*job.cpu_seconds);
    if (::chdir(job.cwd.c_str()) != 0) reporter.fail(Failed::Step::chdir);
    const std::vector<char*> argv = c_array(job.argv);
    const std::vector<char*> env = c_array(job.env);
    const std::string_view path = path_of(job.env);
    if (!job.seccomp.empty() && !load_filter(job.seccomp)) reporter.fail(Failed::Step::seccomp);
    reporter.say(pack(Started{.at_ns = base::monotonic_ns(), .held = read_held(job.measured)}));
    exec_searching(job.argv.front(), argv.data(), env.data(), path);
    reporter.fail(Failed::Step::exec);
}

// Reads the report until exec closes it or the process fails. False: nothing of the program runs.
bool forward_report(const Channel& report, const Channel& channel) {
    std::string last;
    for (;;) {
        const auto message = report.receive(64_KiB);
        if (!message || !message.value()) break;
        last = message.value()->bytes;
        if (kind_of(last) == Kind::failed) break;
    }
    // Nothing at all: it was killed before it could speak; its end is reported as such.
    if (!last.empty()) (void)channel.send(last);
    return kind_of(last) != Kind::failed;
}

void send_counter(const Channel& channel) {
    if (const UniqueFd counter = base::open_task_clock()) (void)channel.send(pack(Counter{}), {counter.get()});
}

// The program's pid, or nothing where it could not be executed (which has been reported).
std::optional<pid_t> start_program(Job job, const std::vector<UniqueFd>& stdio, const Channel& channel) {
    const auto failed = [&] {
        (void)channel.send(pack(Failed{.step = Failed::Step::exec, .os_errno = errno}));
        return std::nullopt;
    };
    auto ends = Channel::make_pair();
    if (!ends) return failed();
    Channel from_program = std::move(ends.value().first);
    Channel to_init = std::move(ends.value().second);
    const pid_t pid = ::fork();
    if (pid < 0) return failed();
    if (pid == 0) become_program(job, stdio, Reporter(std::move(to_init)));
    to_init.close();
    if (!forward_report(from_program, channel)) return std::nullopt;
    return pid;
}

// Reaps everything that has ended. True: `program` was among it, and its end has been reported.
bool reap(pid_t program, const Channel& channel) {
    for (;;) {
        int status = 0;
        rusage usage{};
        const pid_t ended = ::wait4(-1, &status, WNOHANG, &usage);
        if (ended <= 0) return false;
        if (ended != program) continue;
        (void)channel.send(pack(Exited{.wait_status = status,
                                       .at_ns = base::monotonic_ns(),
                                       .user_us = base::microseconds(usage.ru_utime),
                                       .system_us = base::microseconds(usage.ru_stime),
                                       .switches_voluntary = static_cast<std::uint64_t>(usage.ru_nvcsw),
                                       .switches_involuntary = static_cast<std::uint64_t>(usage.ru_nivcsw)}));
        return true;
    }
}

// Passes the signal to the program's group. A stopped process would only see it once it is continued.
void pass_on(int number, pid_t program) {
    ::kill(-program, number);
    if (number == SIGTERM || number == SIGINT || number == SIGHUP) ::kill(-program, SIGCONT);
}

// False: coracle is gone, or says what init does not know.
bool obey(const Channel& channel, pid_t program) {
    const auto message = channel.receive(most_job);
    if (!message || !message.value()) return false;
    const auto signal = unpack_signal(message.value()->bytes);
    if (!signal) return false;
    pass_on(signal->number, program);
    return true;
}

// An epoll instance over both descriptors. Not poll(2): it fails once the program, which may have our uid, has set our
// RLIMIT_NOFILE below the number of descriptors (prlimit(2) asks for the same uid only).
UniqueFd make_waiter(const Channel& channel, const UniqueFd& child_signals) {
    UniqueFd waiter(::epoll_create1(EPOLL_CLOEXEC));
    for (const int fd : {channel.fd(), child_signals.get()}) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(waiter.get(), EPOLL_CTL_ADD, fd, &event);
    }
    return waiter;
}

// Until the program ends or coracle is gone.
void watch(pid_t program, const Channel& channel, const UniqueFd& child_signals, const UniqueFd& waiter) {
    while (!reap(program, channel)) {
        epoll_event event{};
        const int ready = ::epoll_wait(waiter.get(), &event, 1, -1);
        if (ready < 0 && errno != EINTR) return;
        if (ready <= 0) continue;
        if (event.data.fd == child_signals.get()) {
            base::drain_child_signals(child_signals);
        } else if (!obey(channel, program)) {
            return;
        }
    }
}

int run() {
    // Non-dumpable: the program, which may have the same uid, can neither attach to this process nor open its memory
    // or descriptors below /proc/1 (ptrace(2), PTRACE_MODE_*).
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::fcntl(channel_fd, F_SETFD, FD_CLOEXEC);
    ::close_range(channel_fd + 1, ~0U, 0);
    const UniqueFd child_signals = base::block_signals_but_children();
    const Channel channel{UniqueFd(channel_fd)};
    const UniqueFd waiter = make_waiter(channel, child_signals);
    if (!channel.send(pack(Ready{}))) return 125;
    auto message = channel.receive(most_job);
    if (!message || !message.value()) return 125;
    auto job = unpack_job(message.value()->bytes);
    if (!job || job->argv.empty() || message.value()->fds.size() != 3) return 125;
    if (job->count_cpu) send_counter(channel);
    const auto program = start_program(std::move(*job), message.value()->fds, channel);
    message.value()->fds.clear();
    if (!program) return 126;
    watch(*program, channel, child_signals, waiter);
    return 0;  // the end of PID 1 kills whatever is left in the sandbox
}

}  // namespace
}  // namespace coracle::init

int main() { return coracle::init::run(); }

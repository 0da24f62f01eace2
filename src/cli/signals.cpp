// Implements the pipe of signals.
#include "cli/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace coracle::cli {

namespace {

// The one global of the program: a signal handler is given nothing else to know its pipe by.
std::atomic<int> pipe_for_handler{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not take locks");

// Only write(2), which signal-safety(7) allows. A full pipe drops the signal: 65536 of them are waiting already.
void on_signal(int number) {
    const int saved = errno;
    const auto byte = static_cast<unsigned char>(number);
    if (const int fd = pipe_for_handler.load(); fd >= 0) (void)!::write(fd, &byte, 1);
    errno = saved;
}

}  // namespace

Result<SignalPipe> SignalPipe::install() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return os_error("create the pipe for signals", errno);
    SignalPipe made{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
    made.take_signals();
    return made;
}

void SignalPipe::take_signals() {
    pipe_for_handler = write_end_.get();
    for (const int number : signals) take(number);
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) take(number);
}

void SignalPipe::take(int number) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    Taken taken{.number = number};
    ::sigaction(number, nullptr, &taken.before);
    // nohup(1) and a shell's background jobs ignore signals on purpose: stay deaf to those.
    if (taken.before.sa_handler == SIG_IGN) return;
    ::sigaction(number, &action, nullptr);
    taken_.push_back(taken);
}

SignalPipe::~SignalPipe() {
    if (!write_end_) return;  // moved from
    for (const Taken& taken : taken_) ::sigaction(taken.number, &taken.before, nullptr);
    pipe_for_handler = -1;
}

}  // namespace coracle::cli

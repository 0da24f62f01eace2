// Implements the small things around waiting for children.
#include "base/reaping.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace coracle::base {

std::int64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t microseconds(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

UniqueFd block_signals_but_children() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    return UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC));
}

void drain_child_signals(const UniqueFd& child_signals) {
    signalfd_siginfo ignored{};
    (void)!::read(child_signals.get(), &ignored, sizeof ignored);
}

}  // namespace coracle::base

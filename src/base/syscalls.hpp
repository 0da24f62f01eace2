// Thin names for system calls that glibc 2.36 does not wrap, or wraps without O_CLOEXEC; errno tells the cause.
#pragma once

#include <linux/openat2.h>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace coracle::base {

// openat2(2), Linux 5.6. `resolve` is a set of RESOLVE_* flags. O_CLOEXEC is added. Retried on EAGAIN and EINTR.
UniqueFd open_resolved(int dir_fd, const char* path, int flags, unsigned long long resolve, unsigned mode = 0);
// pidfd_open(2), Linux 5.3; close-on-exec by definition.
UniqueFd open_pidfd(pid_t pid);
// pidfd_send_signal(2), Linux 5.1. False with errno, ESRCH when the process is gone.
bool send_signal(const UniqueFd& pidfd, int signal_number);
// perf_event_open(2): read(2) yields 8 bytes, nanoseconds of processor time of this process and of everything that it
// will fork, living or not. What is excluded, the kernel, is excluded from samples only; a clock counts all of a task's
// time, and without it the call would need CAP_PERFMON. -1 where perf_event_paranoid is above 2, or a filter forbids
// it.
UniqueFd open_task_clock();

}  // namespace coracle::base

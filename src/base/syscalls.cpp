// Implements the thin system call names.
#include "base/syscalls.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace coracle::base {

UniqueFd open_resolved(int dir_fd, const char* path, int flags, unsigned long long resolve, unsigned mode) {
    open_how how{};
    how.flags = static_cast<unsigned long long>(flags | O_CLOEXEC);
    how.mode = mode;
    how.resolve = resolve;
    for (;;) {
        // EAGAIN: a rename raced with a ".." inside the root (openat2(2), RESOLVE_IN_ROOT).
        const long fd = ::syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return UniqueFd(static_cast<int>(fd));
    }
}

UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool send_signal(const UniqueFd& pidfd, int signal_number) {
    return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal_number, nullptr, 0) == 0;
}

UniqueFd open_task_clock() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace coracle::base

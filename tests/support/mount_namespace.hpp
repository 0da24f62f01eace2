// Lets a test mount without leaving a trace on the machine.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace coracle::test {

// Runs `act` in a mount namespace of a child's own; the status it exits with, or nothing where that is not allowed.
template <class Act>
std::optional<int> in_mount_namespace(Act act) {
    constexpr int not_allowed = 77;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
            ::_exit(not_allowed);
        }
        ::_exit(act());
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status) == not_allowed ? std::nullopt : std::optional(WEXITSTATUS(status));
}

}  // namespace coracle::test

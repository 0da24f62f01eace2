// Gets a run its scope: a cgroup with a subtree of its own, which the user's service manager makes for the asking and
// removes with everything below it once no process is in it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "coracle/error.hpp"

namespace coracle::cgroup {

struct ScopeRequest {
    std::filesystem::path bus;     // the socket of the user's message bus
    std::filesystem::path parent;  // the cgroup of app.slice
    std::string run_id;
    pid_t pid = 0;                        // as this process sees it; becomes the scope's process
    std::chrono::microseconds longest{};  // systemd ends the scope after that long, should nobody else do it
    int cancel_fd = -1;                   // readable: give up; -1: never
    std::chrono::milliseconds patience = std::chrono::seconds(5);
};

// The name of a run's scope, and of its directory in the cgroup of the slice.
std::string scope_name(const std::string& run_id);

// On return the process is in a leaf below the scope's directory, and the directory itself has no process, so that it
// may have children with controllers. Error: unavailable (no bus, no answer in time; errno ECANCELED where it was
// cancelled) or denied, with the manager's words; what the manager may have begun is stopped then.
Result<> enter_scope(const ScopeRequest& request);

}  // namespace coracle::cgroup

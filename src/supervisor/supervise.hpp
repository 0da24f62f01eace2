// Watches one started container to its end: output, exit, deadlines, the caller's signals. One poll loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "coracle/result.hpp"
#include "init/protocol.hpp"
#include "runtime/container.hpp"
#include "supervisor/capture.hpp"
#include "supervisor/memory_sample.hpp"

namespace coracle::supervisor {

// The processor time that all of the run may use together.
struct CpuBudget {
    Duration time{};
    Cpus rate{};  // the most that can be used up at once: when to look again
    // So far; no value: cannot be read any more. Empty: init's counter tells.
    std::function<std::optional<Duration>()> used{};
};

struct Watch {
    Duration wall_time{};
    std::optional<Duration> idle_time;  // without a byte on `out` and `err`
    std::optional<CpuBudget> cpu;
    MemoryWatch* memory = nullptr;  // where no cgroup holds it
    Duration grace{};               // between TERM and KILL
    int signal_fd = -1;             // bytes that are signal numbers, from the caller; -1: none
    int control_fd = -1;            // the same from elsewhere (`coracle kill`); never at its end
    Capture* out = nullptr;         // absent in pass-through mode
    Capture* err = nullptr;
    // Kills at once everything in the run's cgroup where that is possible; the container's init is killed in any case.
    std::function<void()> kill_cgroup;
};

// How the run ended. The first cause stays: what happens later only adds evidence.
struct Ending {
    std::optional<Reason> reason;  // absent until concluded
    std::optional<init::Started> started;
    std::optional<init::Failed> failed;
    std::optional<init::Exited> exited;                   // the program's end as init saw it
    std::optional<runtime::KeeperExited> container_exit;  // init's own end as the keeper saw it
    std::optional<Duration> cpu_counted;                  // of all its processes, where init counted it
    bool stuck = false;                                   // something did not die in time
    std::chrono::steady_clock::time_point promised{};     // when the caller has its answer at the latest
    std::string message;
    std::chrono::steady_clock::time_point over;  // when nothing of the program ran any more
    std::chrono::steady_clock::time_point drained;

    void conclude(Reason cause, std::string words = {}) {
        if (reason) return;
        reason = cause;
        message = std::move(words);
    }
};

// Returns when the container is gone and its output is drained, at the latest grace + 2 s after the wall time.
Ending supervise(runtime::Container& container, const Watch& watch);

}  // namespace coracle::supervisor

// The one true record of a run: why it ended, what it wrote, what it used, what held it. Schema 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/limits.hpp"

namespace coracle {

inline constexpr int result_schema = 1;

// Why the run ended. The first cause wins: a program that is killed because its time was up is wall_timeout.
enum class Reason {
    exited,          // the program ended by itself with an exit status
    signaled,        // a signal ended it that neither coracle nor the OOM killer sent
    wall_timeout,    // Limits::wall_time was over
    cpu_timeout,     // Limits::cpu_time was used up; usage.cpu_user_s and usage.cpu_system_s are the evidence
    idle_timeout,    // it wrote nothing for Limits::idle_time
    oom,             // the OOM killer ended it; usage.oom_kills is the evidence
    output_limit,    // it wrote more than allowed and the caller asked for an end then
    storage_limit,   // it wrote more than Limits::storage to the disk
    cancelled,       // the caller asked for the end (a signal to coracle)
    exec_failed,     // the program could not be executed: exit_code 126 or 127, message says why
    setup_failed,    // the sandbox could not be built; nothing of the program ran
    image_failed,    // the image is missing, corrupt or of another platform; nothing of the program ran
    policy_refused,  // a policy or the host forbids the request; nothing of the program ran
    internal,        // coracle failed while the program ran; its fate is unknown
};
std::string_view to_string(Reason reason);
// One of the three times was up.
bool is_timeout(Reason reason);

struct Stream {
    std::string data;               // the kept bytes, as they came
    std::uint64_t bytes_total = 0;  // what the program wrote
    // Offset in data at which the bytes were that it lacks; absent: it lacks none.
    std::optional<std::uint64_t> omitted_at;
    std::string sha256;  // of the kept bytes, lower-case hex

    bool truncated() const { return omitted_at.has_value(); }
};

// A figure and where it was read: "cgroup2", "cgroup1", "cgroup2_upper_bound" (the runtime's start is in it), "perf" (a
// counter of all processes), "pss_sampled" (peaks between two samples are missing), "rusage_lower_bound" (children that
// nobody waited for are missing); no value means unknown, never zero.
template <class T>
struct Figure {
    std::optional<T> value;
    std::string_view source = "none";
};

struct Usage {
    double wall_s = 0;     // from the program's start to its end, monotonic clock
    Figure<double> cpu_s;  // processor time of all its processes, user and system
    Figure<double> cpu_user_s;
    Figure<double> cpu_system_s;
    Figure<double> cpu_throttled_s;
    Figure<std::uint64_t> memory_peak;  // bytes, of what the memory limit counts
    Figure<std::uint64_t> oom_kills;    // processes the OOM killer ended in this run
    Figure<std::uint64_t> pids_peak;
    Figure<std::uint64_t> io_read;  // bytes
    Figure<std::uint64_t> io_write;
    // Of the program and the children that it waited for: given up by themselves, and taken by the scheduler.
    Figure<std::uint64_t> switches_voluntary;
    Figure<std::uint64_t> switches_involuntary;
};

// What a run cost, for callers that route or bill by it. Absent where its figures are unknown.
struct Cost {
    std::optional<double> cpu_s;           // user and system together
    std::optional<double> memory_gib_s;    // the peak of memory, held for all of the wall time: at most that was used
    std::optional<double> reserved_gib_s;  // the memory limit for all of the wall time
    std::optional<std::uint64_t> bytes_written;  // to block devices
};

// As read back from the kernel while init waited for its job.
struct SecurityFacts {
    std::vector<std::string> capabilities;  // effective set; empty is the default
    std::optional<bool> no_new_privileges;
    std::string seccomp;                  // "filter", "disabled"; empty where nothing ran
    std::string seccomp_profile;          // the name asked for
    std::vector<std::string> namespaces;  // "mount", "pid", ... those that differ from the host's
    bool read_only_root = true;
};

// Milliseconds of each stage; absent where the stage was not reached.
struct Timing {
    std::optional<double> resolve, unpack, rootfs, config, create, start, run, drain, collect, remove;
    double total = 0;
};

struct LimitFacts {
    std::vector<std::pair<std::string, std::string>> requested;  // what the caller set
    std::vector<std::pair<std::string, std::string>> granted;    // what the plan settled on
    std::vector<Enforced> enforced;
    std::vector<Clamped> clamped;
    std::vector<Degraded> degraded;
};

struct RunResult {
    std::string id;
    Reason reason = Reason::internal;
    std::optional<int> exit_code;  // the program's own status; absent where it died by a signal or never ran
    std::optional<int> signal;     // the signal that ended it
    std::string stage;             // where it went wrong, for setup_failed and internal
    std::string message;           // one sentence for people; empty on success
    std::string hint;              // the fix, where one is known
    Stream out;
    Stream err;
    Usage usage;
    Cost cost;
    LimitFacts limits;
    SecurityFacts security;
    Timing timing_ms;
    std::string image_ref;
    std::string manifest_digest;
    std::string config_digest;
    std::string runtime_name;
    std::string runtime_version;
    std::string host_mode;    // "root" or "rootless"
    std::string host_cgroup;  // "cgroup2", "cgroup1", "none"
    // A process did not die of SIGKILL in time (uninterruptible sleep); what is left of the run is the next start's to
    // sweep.
    bool stuck = false;
    std::vector<std::string> warnings;

    bool success() const { return reason == Reason::exited && exit_code == 0; }
};

// The status `coracle run` exits with: the program's n, 128+s for a signal, 124 for any of the timeouts, 137 OOM, 122
// output limit, 123 policy refused, 125 nothing of the program ran, 126/127 exec failed. A hint; `reason` decides.
int exit_status(const RunResult& result);

}  // namespace coracle

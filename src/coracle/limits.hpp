// The limits a run can have, each with its unit, its default and what enforces it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/units.hpp"

namespace coracle {

// The most that a run may do on one block device (io.max of cgroup v2); absent: unlimited.
struct IoMax {
    // "8:0", a device node, or any path of a file system that lies on the device: then its whole disk is meant.
    std::string device;
    std::optional<std::uint64_t> rbps{};   // bytes read per second
    std::optional<std::uint64_t> wbps{};   // bytes written per second
    std::optional<std::uint64_t> riops{};  // reads per second
    std::optional<std::uint64_t> wiops{};
};

// "rbps=1048576,wiops=100".
std::string to_string(const IoMax& rates);

// What the caller asks for. Absent means "coracle's default", which may fall to a weaker mechanism where the host
// lacks the strong one; a value that is present is enforced by the kernel or the run is refused.
struct LimitRequest {
    std::optional<Bytes> memory;          // RAM, page cache and tmpfs of the whole run, swap closed; default 512 MiB
    std::optional<Bytes> memory_swap{};   // RAM and swap together, at least `memory`; default the same, so no swap
    std::optional<Cpus> cpus;             // processor rate of the whole run; default 1 CPU
    std::optional<std::uint64_t> pids;    // processes and threads at once; default 256
    std::optional<Duration> wall_time;    // from the program's start to its end; default 30 s
    std::optional<Duration> grace;        // between TERM and KILL when a time is up; default 1 s
    std::optional<Duration> cpu_time{};   // processor time of all processes of the run together; default none
    std::optional<Duration> idle_time{};  // the longest silence on both captured streams; default none
    std::optional<Bytes> output;          // kept bytes of each captured stream; default 8 MiB, the rest is counted
    std::optional<std::uint64_t> open_files;  // RLIMIT_NOFILE; default 1024
    std::optional<Bytes> file_size;           // RLIMIT_FSIZE, one file; default none
    std::optional<Bytes> stack{};             // RLIMIT_STACK of each process; default none
    // Size of the tmpfs that is /workspace, and of the one that takes the writes to a writable root; default half the
    // memory each, which counts what is in them. One inode for each 4 KiB.
    std::optional<Bytes> storage{};
    std::optional<Bytes> shm{};                // size of /dev/shm; default half the memory
    std::vector<unsigned> cpuset{};            // numbers of the CPUs that may be used, ascending; default any
    std::vector<IoMax> io_max{};               // cgroup v2 only; default none
    std::optional<std::uint64_t> io_weight{};  // share of a busy disk, 1 to 10000; cgroup v2 only; default 100
};

// What the plan settled on, defaults filled in.
struct Limits {
    Bytes memory = 512_MiB;
    Bytes memory_swap = 512_MiB;
    Cpus cpus = Cpus{1000};
    std::uint64_t pids = 256;
    Duration wall_time = std::chrono::seconds(30);
    Duration grace = std::chrono::seconds(1);
    std::optional<Duration> cpu_time;
    std::optional<Duration> idle_time;
    Bytes output = 8_MiB;
    std::uint64_t open_files = 1024;
    std::optional<Bytes> file_size;
    std::optional<Bytes> stack;
    Bytes storage = 256_MiB;
    Bytes shm = 256_MiB;
};

// One limit that is weaker than asked or than the default, for `limits.degraded`.
struct Degraded {
    std::string limit;      // "memory", "cpus", "pids"
    std::string wanted;     // the value that could not be enforced as such: "512m"
    std::string mechanism;  // what stands in its place: "rlimit_nproc", "none"
    std::string reason;     // why: "no cgroup of this host is writable for uid 1000"
};

// One limit that was lowered to a ceiling of the administrator, for `limits.clamped`.
struct Clamped {
    std::string limit;    // "memory", "tmpfs /data"
    std::string wanted;   // "4g"
    std::string granted;  // "2g"
    std::string ceiling;  // where it is set: "/etc/coracle/config.yaml:9"
};

// One limit as the kernel holds it, read back after it was set, for `limits.enforced`.
struct Enforced {
    std::string limit;   // "memory"
    std::string value;   // as the kernel shows it: "67108864"
    std::string source;  // where it was read: "cgroup1 memory.limit_in_bytes", "rlimit"
};

}  // namespace coracle

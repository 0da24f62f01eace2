// What coracle and the init inside the sandbox say to each other: one job in, then how it went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coracle::init {

// The descriptor on which init finds its channel: runc's --preserve-fds 1 passes exactly this number.
inline constexpr int channel_fd = 3;
// Where init lies in the sandbox; the topmost layer holds it, so that no image can put its own there.
inline constexpr std::string_view program_path = "/.coracle-init";

// coracle -> init: run this. Three descriptors come along: the program's stdin, stdout and stderr.
struct Job {
    std::vector<std::string> argv;
    std::vector<std::string> env;
    std::string cwd;
    std::string seccomp;                  // struct sock_filter[], loaded last before exec; empty: none
    std::vector<unsigned> cpus{};         // the program's affinity; empty: as init's
    std::vector<std::string> measured{};  // mount points whose size goes into Held::sizes
    // RLIMIT_CPU in seconds, for the program and not for init, whose own time has the runtime's start in it.
    std::optional<std::uint64_t> cpu_seconds{};
    bool count_cpu = false;  // answer with a Counter
};

// coracle -> init: pass this signal to the program's process group.
struct Signal {
    int number = 0;
};

// init -> coracle: it runs and waits for the job.
struct Ready {};

// init -> coracle, before the program starts: a descriptor comes along from which read(2) yields 8 bytes, nanoseconds
// of processor time of init and all that descends from it, living or not. Not sent where the kernel refuses it.
struct Counter {};

// What the program's process held, read from its /proc/self/status after the filter was loaded, before exec.
struct Held {
    std::uint64_t capabilities = 0;  // CapEff
    int no_new_privileges = -1;      // -1: could not be read
    int seccomp = -1;
    std::vector<std::string> namespaces;  // "mnt:[4026532281]", as in /proc/self/ns
    // Soft limits of getrlimit(2); RLIM_INFINITY where there is none.
    std::uint64_t open_files = 0;
    std::uint64_t processes = 0;
    std::uint64_t file_size = 0;
    std::uint64_t stack = 0;
    std::uint64_t cpu = 0;  // seconds
    std::uint64_t core = 0;
    std::uint64_t cpus = 0;  // CPUs in the affinity mask
    // Of Job::measured, in its order, by statfs(2); zeros where that failed.
    struct Size {
        std::uint64_t bytes = 0;
        std::uint64_t inodes = 0;
    };
    std::vector<Size> sizes{};
};

// init -> coracle: execve succeeded.
struct Started {
    std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
    Held held;
};

// init -> coracle: the program could not be executed. init ends after it.
struct Failed {
    enum class Step { stdio, chdir, seccomp, exec };
    Step step = Step::exec;
    int os_errno = 0;
};

// init -> coracle: the program ended. init kills what it left behind and ends.
struct Exited {
    int wait_status = 0;       // as of wait4(2)
    std::int64_t at_ns = 0;    // CLOCK_MONOTONIC
    std::int64_t user_us = 0;  // rusage of the program and the children it waited for
    std::int64_t system_us = 0;
    std::uint64_t switches_voluntary = 0;  // ru_nvcsw
    std::uint64_t switches_involuntary = 0;
};

enum class Kind : std::uint8_t { job = 1, signal, ready, counter, started, failed, exited };

std::string pack(const Job& job);
std::string pack(const Signal& signal);
std::string pack(const Ready& ready);
std::string pack(const Counter& counter);
std::string pack(const Started& started);
std::string pack(const Failed& failed);
std::string pack(const Exited& exited);

// The kind of a packed message; no value for anything else.
std::optional<Kind> kind_of(std::string_view bytes);
// No value where the bytes are not a whole message of that kind.
std::optional<Job> unpack_job(std::string_view bytes);
std::optional<Signal> unpack_signal(std::string_view bytes);
std::optional<Started> unpack_started(std::string_view bytes);
std::optional<Failed> unpack_failed(std::string_view bytes);
std::optional<Exited> unpack_exited(std::string_view bytes);

}  // namespace coracle::init

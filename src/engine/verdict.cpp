// Implements the verdict, the accounting and the security facts of the record.
#include "engine/verdict.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "oci/platform.hpp"
#include "policy/capabilities.hpp"

namespace coracle::engine {

namespace {

std::string cause_of(int os_errno) {
    std::array<char, 128> buffer{};
    return ::strerror_r(os_errno, buffer.data(), buffer.size());
}

// A '#!' line names a program; with a Windows line end its name has a CR at the end, which no listing shows.
std::string interpreter_hint(const plan::ExecutionPlan& plan) {
    const std::string line = plan.script ? plan.script->substr(0, plan.script->find('\n')) : std::string();
    if (line.starts_with("#!") && line.ends_with('\r')) {
        return "the script has Windows line ends (CR LF), so that its interpreter's name ends in a CR: save it with "
               "LF, "
               "or run it through tr -d '\\r'";
    }
    if (line.starts_with("#!")) return "the interpreter of the script's '#!' line is not in the image";
    return "the file, or the interpreter that its '#!' line names, is not in the image; a script with Windows line "
           "ends "
           "(CR LF) names one that ends in a CR";
}

// 127 where the program (or what leads to it) is not there, 126 where it is but cannot be executed: the shells' rule.
void judge_exec(const plan::ExecutionPlan& plan, const init::Failed& failed, RunResult& result) {
    const bool missing = failed.os_errno == ENOENT || failed.os_errno == ENOTDIR;
    result.exit_code = missing ? 127 : 126;
    const std::string cause = cause_of(failed.os_errno);
    switch (failed.step) {
        case init::Failed::Step::chdir:
            result.message = "working directory '" + plan.process.cwd + "': " + cause;
            result.hint = "name an existing directory with --workdir, or create it in the image";
            return;
        case init::Failed::Step::seccomp:
            result.reason = Reason::setup_failed;
            result.exit_code.reset();
            result.message = "load the seccomp filter '" + plan.process.seccomp + "': " + cause;
            return;
        case init::Failed::Step::stdio: result.message = "hand over stdin, stdout and stderr: " + cause; return;
        case init::Failed::Step::exec: break;
    }
    const std::string& program = plan.process.args.front();
    const bool searched = program.find('/') == std::string::npos;
    result.message = "execute '" + program + "': " + (missing && searched ? "not found in PATH" : cause);
    if (failed.os_errno == ENOEXEC) result.hint = "the file is no program of this machine; a script needs a '#!' line";
    if (failed.os_errno == ENOEXEC && !plan.foreign_platform.empty()) {
        result.hint = "the image is for " + plan.foreign_platform + ", this machine is " +
                      oci::to_string(oci::this_platform()) +
                      ": take it for this machine, or install an emulator (qemu-user-static)";
    }
    if (missing && !searched) result.hint = interpreter_hint(plan);
}

// The OOM killer ended the run if it ended the program, or a child whose death by SIGKILL the program passed on in
// the shells' way; the counter is the proof that a SIGKILL was the OOM killer's.
bool ended_by_oom(const supervisor::Ending& ending, const cgroup::Reading& reading) {
    if (reading.oom_kills.value.value_or(0) == 0) return false;
    if (ending.reason != Reason::signaled && ending.reason != Reason::exited && ending.reason != Reason::internal) {
        return false;
    }
    // No word from init: it was killed itself, or died with the program.
    if (!ending.exited) return true;
    const int status = ending.exited->wait_status;
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 128 + SIGKILL;
}

// RLIMIT_CPU sends SIGXCPU, and where a process goes on in spite of it, as Go's runtime does, SIGKILL a second later
// (setrlimit(2)); the time that was used is the proof that it was this one. Called where a signal ended the program.
bool ended_by_processor_time(const plan::ExecutionPlan& plan, const supervisor::Ending& ending) {
    if (!plan.limits.cpu_time || !ending.exited) return false;
    const int number = WTERMSIG(ending.exited->wait_status);
    const std::chrono::microseconds used(ending.exited->user_us + ending.exited->system_us);
    return number == SIGXCPU || (number == SIGKILL && !plan.watch_cpu_time && used >= *plan.limits.cpu_time);
}

// "9 (KILL)"; the real-time signals have no names in glibc.
std::string signal_words(int number) {
    const char* const name = ::sigabbrev_np(number);
    return std::to_string(number) + (name == nullptr ? "" : " (" + std::string(name) + ")");
}

double seconds(std::int64_t microseconds) { return static_cast<double>(microseconds) * 1e-6; }

template <class T>
Figure<T> first_known(const Figure<T>& better, T fallback, std::string_view source) {
    if (better.value) return better;
    return {.value = fallback, .source = source};
}

Reason reason_of(const Error& error) {
    const Stage stage = error.stage.value_or(Stage::create);
    if (stage == Stage::resolve || stage == Stage::unpack) return Reason::image_failed;
    if (stage == Stage::plan && (error.code == ErrorCode::unsupported || error.code == ErrorCode::denied)) {
        return Reason::policy_refused;
    }
    return Reason::setup_failed;
}

void list_rlimits(const plan::ExecutionPlan& plan, const init::Held& held, std::vector<Enforced>& enforced) {
    for (const plan::Rlimit& limit : plan.process.rlimits) {
        const auto list = [&](const char* name, std::uint64_t value) {
            enforced.push_back({.limit = name, .value = std::to_string(value), .source = "rlimit " + limit.type});
        };
        if (limit.type == "RLIMIT_NOFILE") list("open_files", held.open_files);
        if (limit.type == "RLIMIT_NPROC") list("pids", held.processes);
        if (limit.type == "RLIMIT_FSIZE") list("file_size", held.file_size);
        if (limit.type == "RLIMIT_STACK") list("stack", held.stack);
        if (limit.type == "RLIMIT_CPU") list("cpu_time", held.cpu);
        if (limit.type == "RLIMIT_CORE") list("core", held.core);
    }
}

// The sizes of what can be written, as the kernel has them.
void list_sizes(const plan::ExecutionPlan& plan, const init::Held& held, std::vector<Enforced>& enforced) {
    const std::vector<std::string> places = measured_mounts(plan);
    for (std::size_t at = 0; at < std::min(places.size(), held.sizes.size()); ++at) {
        const auto& [bytes, inodes] = held.sizes[at];
        if (bytes == 0) continue;
        enforced.push_back({.limit = "size " + places[at], .value = std::to_string(bytes), .source = "statfs"});
        enforced.push_back({.limit = "inodes " + places[at], .value = std::to_string(inodes), .source = "statfs"});
    }
}

}  // namespace

std::vector<std::string> measured_mounts(const plan::ExecutionPlan& plan) {
    std::vector<std::string> places;
    if (!plan.rootfs.read_only && !plan.rootfs.scratch_on_disk) places.emplace_back("/");
    for (const plan::Mount& mount : plan.mounts) {
        if (mount.type == "tmpfs" && mount.destination != "/dev") places.push_back(mount.destination);
    }
    return places;
}

void judge(const plan::ExecutionPlan& plan, const supervisor::Ending& ending, const cgroup::Reading& reading,
           RunResult& result) {
    result.reason = ending.reason.value_or(Reason::internal);
    result.message = ending.message;
    if (result.reason == Reason::internal) result.stage = to_string(Stage::run);
    if (ending.failed) judge_exec(plan, *ending.failed, result);
    // Without init's word the program's own status is not known; its death is, where everything in there was killed.
    const std::optional<int> status = ending.exited ? std::optional(ending.exited->wait_status) : std::nullopt;
    if (status && !ending.failed) {
        if (WIFEXITED(*status)) result.exit_code = WEXITSTATUS(*status);
        if (WIFSIGNALED(*status)) result.signal = WTERMSIG(*status);
    } else if (!ending.failed && result.reason != Reason::internal) {
        result.signal = SIGKILL;
    }
    if (result.reason == Reason::signaled && ended_by_processor_time(plan, ending)) {
        result.reason = Reason::cpu_timeout;
        result.message = "a process used " + to_string(*plan.limits.cpu_time) + " of processor time (--cpu-time)";
    }
    if (ended_by_oom(ending, reading)) {
        result.reason = Reason::oom;
        if (!ending.exited) result.signal = SIGKILL;
        result.message = "the memory limit of " + to_string(plan.limits.memory) +
                         " was reached and the kernel's OOM killer " + "ended the program";
        result.hint = "raise --memory, or let the program use less";
        result.stage.clear();
    } else if (result.reason == Reason::signaled && result.message.empty()) {
        result.message = "the program was ended by signal " + signal_words(result.signal.value_or(0));
    }
    result.stuck = result.stuck || ending.stuck;
    if (result.stuck) {
        result.warnings.emplace_back(
            "a process did not die of SIGKILL in time (uninterruptible sleep); the next start removes what is left");
    }
}

namespace {

Cost cost_of(const plan::ExecutionPlan& plan, const Usage& usage) {
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    Cost cost;
    cost.cpu_s = usage.cpu_s.value;
    if (usage.memory_peak.value) {
        cost.memory_gib_s = static_cast<double>(*usage.memory_peak.value) / gib * usage.wall_s;
    }
    if (plan.cgroup.memory) cost.reserved_gib_s = static_cast<double>(plan.cgroup.memory->count) / gib * usage.wall_s;
    cost.bytes_written = usage.io_write.value;
    return cost;
}

}  // namespace

void account(const plan::ExecutionPlan& plan, const supervisor::Ending& ending, const cgroup::Reading& reading,
             std::optional<Bytes> sampled_peak, RunResult& result) {
    Usage& usage = result.usage;
    if (ending.started) {
        const auto over = std::chrono::duration_cast<std::chrono::nanoseconds>(ending.over.time_since_epoch()).count();
        const std::int64_t end = ending.exited ? ending.exited->at_ns : over;
        usage.wall_s = static_cast<double>(end - ending.started->at_ns) * 1e-9;
    }
    usage.cpu_throttled_s = reading.cpu_throttled_s;
    usage.memory_peak = reading.memory_peak;
    usage.oom_kills = reading.oom_kills;
    usage.pids_peak = reading.pids_peak;
    usage.io_read = reading.io_read;
    usage.io_write = reading.io_write;
    usage.cpu_user_s = reading.cpu_user_s;
    usage.cpu_system_s = reading.cpu_system_s;
    if (ending.exited) {
        // Children that nobody waited for are missing in it: a lower bound.
        usage.cpu_user_s = first_known(reading.cpu_user_s, seconds(ending.exited->user_us), "rusage_lower_bound");
        usage.cpu_system_s = first_known(reading.cpu_system_s, seconds(ending.exited->system_us), "rusage_lower_bound");
        usage.switches_voluntary = {.value = ending.exited->switches_voluntary, .source = "rusage_lower_bound"};
        usage.switches_involuntary = {.value = ending.exited->switches_involuntary, .source = "rusage_lower_bound"};
    }
    usage.cpu_s = reading.cpu_s;
    if (ending.cpu_counted) {
        usage.cpu_s = first_known(reading.cpu_s, std::chrono::duration<double>(*ending.cpu_counted).count(), "perf");
    } else if (!usage.cpu_s.value && usage.cpu_user_s.value && usage.cpu_system_s.value) {
        usage.cpu_s = {.value = *usage.cpu_user_s.value + *usage.cpu_system_s.value, .source = usage.cpu_user_s.source};
    }
    if (sampled_peak && !reading.memory_peak.value) {
        usage.memory_peak = {.value = sampled_peak->count, .source = "pss_sampled"};
    } else if (ending.container_exit && !reading.memory_peak.value) {
        // The largest single process, not the sum.
        usage.memory_peak = {.value = ending.container_exit->max_rss, .source = "rusage_lower_bound"};
    }
    result.cost = cost_of(plan, usage);
}

void refuse(const Error& error, RunResult& result) {
    result.reason = error.os_errno == ECANCELED ? Reason::cancelled : reason_of(error);
    result.stage = to_string(error.stage.value_or(Stage::create));
    result.message = error.message;
    result.hint = error.hint;
}

void describe_process(const plan::ExecutionPlan& plan, const init::Started& started, RunResult& result) {
    list_rlimits(plan, started.held, result.limits.enforced);
    list_sizes(plan, started.held, result.limits.enforced);
    result.limits.enforced.push_back(
        {.limit = "visible_cpus", .value = std::to_string(started.held.cpus), .source = "sched_getaffinity"});
    SecurityFacts& security = result.security;
    const init::Held& held = started.held;
    for (std::size_t number = 0; number < policy::capability_names.size(); ++number) {
        if (((held.capabilities >> number) & 1U) != 0) {
            security.capabilities.emplace_back(policy::capability_names[number]);
        }
    }
    if (held.no_new_privileges >= 0) security.no_new_privileges = held.no_new_privileges == 1;
    if (held.seccomp >= 0) security.seccomp = held.seccomp == 2 ? "filter" : held.seccomp == 1 ? "strict" : "disabled";
    security.seccomp_profile = plan.process.seccomp;
    security.read_only_root = plan.rootfs.read_only;
    // "net:[4026531840]": those that differ from our own are the sandbox's.
    for (const std::string& link : held.namespaces) {
        const std::string name = link.substr(0, link.find(':'));
        std::array<char, 64> own{};
        const std::string path = "/proc/self/ns/" + name;
        if (::readlink(path.c_str(), own.data(), own.size() - 1) > 0 && link != own.data()) {
            security.namespaces.push_back(name == "mnt" ? "mount" : name == "net" ? "network" : name);
        }
    }
}

}  // namespace coracle::engine

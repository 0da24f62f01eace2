// Refuses requests that contradict themselves or ask for what is not built yet, naming the flag and the fix.
#include <algorithm>

#include "base/try.hpp"
#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

Error invalid(std::string message, std::string hint = {}) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint));
}

// An absolute path without "..", so that it means the same everywhere.
Result<> check_guest_path(std::string_view flag, const std::string& path) {
    const std::filesystem::path parsed = path;
    const bool climbs = std::find(parsed.begin(), parsed.end(), "..") != parsed.end();
    if (parsed.is_absolute() && !climbs && path.find('\0') == std::string::npos && path.size() < 4096) return {};
    return invalid(std::string(flag) + " '" + path + "': the path in the sandbox must be absolute and without '..'",
                   "write it like /data");
}

Result<> check_mount_path(std::string_view flag, const std::string& path) {
    TRY_OK(check_guest_path(flag, path));
    std::string normal = std::filesystem::path(path).lexically_normal().string();
    if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
    for (const std::string_view reserved : {"/", "/proc", "/sys", "/dev", "/.coracle-init", "/coracle"}) {
        if (normal == reserved ||
            (reserved.size() > 1 && normal.starts_with(std::string(reserved) + "/") && reserved != "/dev")) {
            return invalid(std::string(flag) + " '" + path + "': coracle keeps this place for itself",
                           "choose another path in the sandbox");
        }
    }
    return {};
}

Result<> check_env(const std::vector<EnvVar>& env) {
    for (const EnvVar& variable : env) {
        if (variable.name.empty() || variable.name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
            return invalid("--env '" + variable.name + "': not a variable name", "write it like NAME=value");
        }
        if (variable.value.find('\0') != std::string::npos) {
            return invalid("--env '" + variable.name + "': the value contains a NUL byte",
                           "pass binary data by stdin (-i)");
        }
    }
    return {};
}

Result<> check_network(NetworkMode mode) {
    if (mode == NetworkMode::none || mode == NetworkMode::host) return {};
    const std::string word = mode == NetworkMode::bridge ? "bridge" : "egress";
    return make_error(ErrorCode::unsupported, "--network " + word + " is not built yet",
                      "use --network none (the default) or --network host");
}

Result<> check_bounds(const LimitRequest& limits) {
    constexpr Bytes least_memory = 4_MiB;
    constexpr Cpus least_cpus{10};
    if (limits.memory && *limits.memory < least_memory) {
        return invalid(
            "--memory " + to_string(*limits.memory) + ": no program starts in less than " + to_string(least_memory),
            "ask for at least " + to_string(least_memory));
    }
    if (limits.memory_swap && *limits.memory_swap < limits.memory.value_or(Limits{}.memory)) {
        return invalid("--memory-swap " + to_string(*limits.memory_swap) +
                           " is less than the memory itself: it counts " + "memory and swap together",
                       "ask for at least " + to_string(limits.memory.value_or(Limits{}.memory)));
    }
    if (limits.cpus && *limits.cpus < least_cpus) {
        return invalid("--cpus " + to_string(*limits.cpus) + ": the kernel's least share is 0.01",
                       "ask for 0.01 or more");
    }
    // The most that a kernel can be built for (CONFIG_NR_CPUS); more than this host has is no fault, a limit may be
    // wide.
    constexpr Cpus most_cpus{8'192'000};
    if (limits.cpus && *limits.cpus > most_cpus) {
        return invalid("--cpus " + to_string(*limits.cpus) + ": no machine has more than " + to_string(most_cpus),
                       "ask for at most as many as this host has");
    }
    // PID_MAX_LIMIT, less the room that the runtime gets while it starts; pids.max refuses more (kernel/cgroup/pids.c).
    constexpr std::uint64_t most_pids = 4'194'304 - 64;
    if (limits.pids && *limits.pids > most_pids) {
        return invalid("--pids " + std::to_string(*limits.pids) + ": Linux has room for at most " +
                           std::to_string(most_pids) + " processes",
                       "ask for less");
    }
    constexpr std::uint64_t most_io_weight = 10'000;  // cgroup-v2.rst, io.weight
    if (limits.io_weight && *limits.io_weight > most_io_weight) {
        return invalid("--io-weight " + std::to_string(*limits.io_weight) + ": the most is 10000",
                       "ask for 1 to 10000");
    }
    if (limits.pids && *limits.pids == 0) return invalid("--pids 0: the program itself is one", "ask for 1 or more");
    return {};
}

// What coracle does not read it cannot watch.
Result<> check_output(const Request& request) {
    if (request.output_mode == OutputMode::capture) return {};
    if (!request.limits.idle_time && request.output_excess == OutputExcess::truncate) return {};
    const std::string flag = request.limits.idle_time ? "--idle-timeout" : "--output-excess";
    return invalid(flag + ": without --json the program writes to the caller's own streams, which coracle does not see",
                   "add --json, or --result FILE with --json");
}

Result<> check_require(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (name == "memory" || name == "cpus" || name == "pids" || name == "all") continue;
        return invalid("--require '" + name + "': not a limit", "name memory, cpus, pids or all");
    }
    return {};
}

}  // namespace

Result<> check_request(const Request& request) {
    TRY_OK(check_network(request.network.value_or(NetworkMode::none)));
    TRY_OK(check_bounds(request.limits));
    TRY_OK(check_output(request));
    TRY_OK(check_require(request.require));
    TRY_OK(check_env(request.env));
    if (request.workdir) TRY_OK(check_guest_path("--workdir", *request.workdir));
    for (const Volume& volume : request.volumes) TRY_OK(check_mount_path("--volume", volume.guest));
    for (const Tmpfs& tmpfs : request.tmpfs) TRY_OK(check_mount_path("--tmpfs", tmpfs.guest));
    return {};
}

}  // namespace coracle::plan

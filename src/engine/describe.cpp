// Implements the part of the record that a plan alone tells.
#include "engine/describe.hpp"

namespace coracle::engine {

// "64m" for what the caller set, so that a reader sees the words of the request.
std::vector<std::pair<std::string, std::string>> requested_limits(const LimitRequest& asked) {
    std::vector<std::pair<std::string, std::string>> rows;
    if (asked.memory) rows.emplace_back("memory", to_string(*asked.memory));
    if (asked.memory_swap) rows.emplace_back("memory_swap", to_string(*asked.memory_swap));
    if (asked.cpus) rows.emplace_back("cpus", to_string(*asked.cpus));
    if (asked.pids) rows.emplace_back("pids", std::to_string(*asked.pids));
    if (asked.wall_time) rows.emplace_back("wall_time", to_string(*asked.wall_time));
    if (asked.grace) rows.emplace_back("grace", to_string(*asked.grace));
    if (asked.cpu_time) rows.emplace_back("cpu_time", to_string(*asked.cpu_time));
    if (asked.idle_time) rows.emplace_back("idle_time", to_string(*asked.idle_time));
    if (asked.output) rows.emplace_back("output", to_string(*asked.output));
    if (asked.open_files) rows.emplace_back("open_files", std::to_string(*asked.open_files));
    if (asked.file_size) rows.emplace_back("file_size", to_string(*asked.file_size));
    if (asked.stack) rows.emplace_back("stack", to_string(*asked.stack));
    if (asked.storage) rows.emplace_back("storage", to_string(*asked.storage));
    if (asked.shm) rows.emplace_back("shm", to_string(*asked.shm));
    if (!asked.cpuset.empty()) rows.emplace_back("cpuset", to_string(asked.cpuset));
    for (const IoMax& rates : asked.io_max) rows.emplace_back("io_max " + rates.device, to_string(rates));
    if (asked.io_weight) rows.emplace_back("io_weight", std::to_string(*asked.io_weight));
    return rows;
}

namespace {

std::vector<std::pair<std::string, std::string>> granted_limits(const Limits& limits) {
    return requested_limits({.memory = limits.memory,
                             .memory_swap = limits.memory_swap,
                             .cpus = limits.cpus,
                             .pids = limits.pids,
                             .wall_time = limits.wall_time,
                             .grace = limits.grace,
                             .cpu_time = limits.cpu_time,
                             .idle_time = limits.idle_time,
                             .output = limits.output,
                             .open_files = limits.open_files,
                             .file_size = limits.file_size,
                             .stack = limits.stack,
                             .storage = limits.storage,
                             .shm = limits.shm});
}

}  // namespace

void list_watched(const plan::ExecutionPlan& plan, OutputMode output, std::vector<Enforced>& enforced) {
    const auto list = [&](const char* limit, std::string value, const char* source) {
        enforced.push_back({.limit = limit, .value = std::move(value), .source = source});
    };
    list("wall_time", to_string(plan.limits.wall_time), "supervisor clock");
    if (plan.limits.idle_time) list("idle_time", to_string(*plan.limits.idle_time), "supervisor clock");
    if (plan.watch_cpu_time) list("cpu_time", to_string(*plan.limits.cpu_time), "supervisor, cgroup counter");
    if (plan.rootfs.scratch_on_disk) list("storage", to_string(plan.limits.storage), "keeper, by measuring the disk");
    if (output == OutputMode::capture) list("output", to_string(plan.limits.output), "supervisor, while reading");
}

void describe_plan(const Prepared& prepared, const host::HostFacts& host, RunResult& result) {
    const plan::ExecutionPlan& plan = prepared.plan;
    result.image_ref = prepared.settled.request.image;
    if (prepared.image) result.manifest_digest = prepared.image->manifest_digest.str();
    if (prepared.image) result.config_digest = prepared.image->config_digest.str();
    result.runtime_name = plan::name_of(plan.runtime);
    result.runtime_version = plan.runtime.version;
    result.host_mode = host.privileged ? "root" : "rootless";
    result.host_cgroup = plan.cgroup.mode == plan::CgroupMode::v2   ? "cgroup2"
                         : plan.cgroup.mode == plan::CgroupMode::v1 ? "cgroup1"
                                                                    : "none";
    result.limits.granted = granted_limits(plan.limits);
    result.limits.clamped = prepared.settled.clamped;
    result.limits.degraded = plan.degraded;
    result.warnings = plan.warnings;
}

}  // namespace coracle::engine

// Implements the part of the record that a plan alone tells.
#include "engine/describe.hpp"

namespace coracle::engine {

// "64m" for what the caller set, so that a reader sees the words of the request.
std::vector<std::pair<std::string, std::string>> requested_limits(const LimitRequest& asked) {
    std::vector<std::pair<std::string, std::string>> rows;
    if (asked.memory) rows.emplace_back("memory", to_string(*asked.memory));
    if (asked.cpus) rows.emplace_back("cpus", to_string(*asked.cpus));
    if (asked.pids) rows.emplace_back("pids", std::to_string(*asked.pids));
    if (asked.wall_time) rows.emplace_back("wall_time", to_string(*asked.wall_time));
    if (asked.grace) rows.emplace_back("grace", to_string(*asked.grace));
    if (asked.output) rows.emplace_back("output", to_string(*asked.output));
    if (asked.open_files) rows.emplace_back("open_files", std::to_string(*asked.open_files));
    if (asked.file_size) rows.emplace_back("file_size", to_string(*asked.file_size));
    return rows;
}

namespace {

std::vector<std::pair<std::string, std::string>> granted_limits(const Limits& limits) {
    return requested_limits({.memory = limits.memory,
                             .cpus = limits.cpus,
                             .pids = limits.pids,
                             .wall_time = limits.wall_time,
                             .grace = limits.grace,
                             .output = limits.output,
                             .open_files = limits.open_files,
                             .file_size = limits.file_size});
}

}  // namespace

void describe_plan(const Prepared& prepared, const host::HostFacts& host, RunResult& result) {
    const plan::ExecutionPlan& plan = prepared.plan;
    if (prepared.image) result.manifest_digest = prepared.image->manifest_digest.str();
    if (prepared.image) result.config_digest = prepared.image->config_digest.str();
    result.runtime_name = plan::name_of(plan.runtime);
    result.runtime_version = plan.runtime.version;
    result.host_mode = host.privileged ? "root" : "rootless";
    result.host_cgroup = plan.cgroup.mode == plan::CgroupMode::v2   ? "cgroup2"
                         : plan.cgroup.mode == plan::CgroupMode::v1 ? "cgroup1"
                                                                    : "none";
    result.limits.granted = granted_limits(plan.limits);
    result.limits.degraded = plan.degraded;
    result.warnings = plan.warnings;
}

}  // namespace coracle::engine

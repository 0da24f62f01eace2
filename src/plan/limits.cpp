// Decides what enforces each limit on this host, or why it cannot be enforced here.
#include <algorithm>

#include "base/try.hpp"
#include "plan/concerns.hpp"
#include "plan/ladder.hpp"

namespace coracle::plan {

namespace {

bool is_required(const Request& request, const std::string& name) {
    const auto& names = request.require;
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& word) { return word == name || word == "all"; });
}

}  // namespace

Result<> fall_back(const Wanted& wanted, const std::string& mechanism, const std::string& why, ExecutionPlan& plan) {
    if (wanted.strict) {
        const std::string fix = wanted.hint.empty() ? "delegate a cgroup to this user (systemd: a service or "
                                                      "'systemd-run --user' with Delegate=yes), run as root"
                                                    : wanted.hint;
        return make_error(ErrorCode::unsupported, wanted.flag + " cannot be enforced here: " + why,
                          fix + ", or accept weaker limits with --best-effort");
    }
    plan.degraded.push_back({.limit = wanted.name, .wanted = wanted.value, .mechanism = mechanism, .reason = why});
    return {};
}

namespace {

Limits merged(const LimitRequest& asked, Limits limits) {
    limits.memory = asked.memory.value_or(limits.memory);
    limits.memory_swap = asked.memory_swap.value_or(limits.memory);
    limits.cpus = asked.cpus.value_or(limits.cpus);
    limits.pids = asked.pids.value_or(limits.pids);
    limits.wall_time = asked.wall_time.value_or(limits.wall_time);
    limits.grace = asked.grace.value_or(limits.grace);
    limits.cpu_time = asked.cpu_time;
    limits.idle_time = asked.idle_time;
    limits.output = asked.output.value_or(limits.output);
    limits.open_files = asked.open_files.value_or(limits.open_files);
    limits.file_size = asked.file_size;
    limits.stack = asked.stack;
    return limits;
}

template <class Asked>
Wanted wanted(const PlanInput& input, const char* name, const Asked& asked, const std::string& value) {
    const Request& request = input.request;
    const auto origin = input.basis.origins.find(name);
    const bool configured = origin != input.basis.origins.end();
    const std::string flag = std::string(asked ? "--" : "--require ") + name + (asked ? " " + value : "");
    return {.name = name,
            .flag = configured ? origin->second + ": " + name + " " + value : flag,
            .value = value,
            .strict = (asked || is_required(request, name)) && !request.best_effort};
}

void add_rlimit(ExecutionPlan& plan, const char* type, std::uint64_t value) {
    plan.process.rlimits.push_back({.type = type, .soft = value, .hard = value});
}

// A hard limit of coracle's own is the most that the sandbox can have: raising one takes CAP_SYS_RESOURCE.
Result<> plan_open_files(const PlanInput& input, ExecutionPlan& plan) {
    std::uint64_t& count = plan.limits.open_files;
    const std::uint64_t most = input.host.hard_open_files;
    if (count > most) {
        const std::string why = "this process's own hard limit is " + std::to_string(most);
        if (input.request.limits.open_files && !input.request.best_effort) {
            return make_error(ErrorCode::unsupported, std::to_string(count) + " open files cannot be had: " + why,
                              "raise the hard limit of the caller (ulimit -Hn), or accept less with --best-effort");
        }
        plan.degraded.push_back({.limit = "open_files",
                                 .wanted = std::to_string(count),
                                 .mechanism = "rlimit " + std::to_string(most),
                                 .reason = why});
        count = most;
    }
    add_rlimit(plan, "RLIMIT_NOFILE", count);
    return {};
}

Result<> plan_rlimits(const PlanInput& input, ExecutionPlan& plan) {
    TRY_OK(plan_open_files(input, plan));
    // One byte, not zero: a core_pattern that is a pipe ignores 0 but honours 1 (core(5), do_coredump()).
    add_rlimit(plan, "RLIMIT_CORE", std::min<std::uint64_t>(1, input.host.hard_core));
    // A lower limit of the caller's holds the sandbox as well.
    if (plan.limits.file_size) {
        plan.limits.file_size = Bytes{std::min(plan.limits.file_size->count, input.host.hard_file_size)};
        add_rlimit(plan, "RLIMIT_FSIZE", plan.limits.file_size->count);
    }
    if (plan.limits.stack) {
        plan.limits.stack = Bytes{std::min(plan.limits.stack->count, input.host.hard_stack)};
        add_rlimit(plan, "RLIMIT_STACK", plan.limits.stack->count);
    }
    return {};
}

// Counted over all processes by the cgroup, or by a perf event; without both each process alone has RLIMIT_CPU, in
// whole seconds.
Result<> plan_cpu_time(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan) {
    const bool by_cgroup = chance.controllers.contains(chance.mode == CgroupMode::v2 ? "cpu" : "cpuacct");
    plan.count_cpu = !by_cgroup && input.host.perf_events;
    plan.watch_cpu_time = plan.limits.cpu_time && (by_cgroup || plan.count_cpu);
    if (!plan.limits.cpu_time || plan.watch_cpu_time) return {};
    const std::string value = to_string(*plan.limits.cpu_time);
    TRY_OK(fall_back(
        {.name = "cpu_time", .flag = "--cpu-time " + value, .value = value, .strict = !input.request.best_effort},
        "rlimit_cpu", chance.why_not, plan));
    // SIGXCPU, which tells what it was, comes at the soft limit; at the hard one it would be SIGKILL.
    const auto seconds =
        static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(*plan.limits.cpu_time).count());
    plan.process.rlimits.push_back({.type = cpu_rlimit, .soft = seconds, .hard = seconds + 1});
    return {};
}

// Without a pids controller: RLIMIT_NPROC, counted in a user namespace of the run's own (Linux 5.14).
Result<> plan_pids_by_rlimit(const PlanInput& input, const std::string& why, ExecutionPlan& plan) {
    const std::string value = std::to_string(plan.limits.pids);
    plan.namespaces.nested_user = true;
    add_rlimit(plan, "RLIMIT_NPROC", std::min(plan.limits.pids + 1, input.host.hard_processes));  // and init
    plan.degraded.push_back({.limit = "pids", .wanted = value, .mechanism = "rlimit_nproc", .reason = why});
    return {};
}

// runc and crun can be told to leave cgroups alone; another runtime gets a place for its own below ours.
Result<> plan_cgroup_manager(const PlanInput& input, ExecutionPlan& plan) {
    if (plan.runtime.kind != RuntimeKind::other) return {};
    if (plan.cgroup.mode == CgroupMode::v1) {
        return make_error(ErrorCode::unsupported,
                          "the runtime '" + plan.runtime.path.string() + "' cannot be used on a cgroup v1 host",
                          "name runc or crun: others are driven on cgroup v2 only");
    }
    if (plan.cgroup.mode != CgroupMode::v2) return {};
    plan.cgroup.runtime_managed = true;
    plan.cgroup.mount = input.host.cgroup_v2->mount;
    return {};
}

}  // namespace

Result<> plan_limits(const PlanInput& input, ExecutionPlan& plan) {
    const Request& request = input.request;
    plan.limits = merged(request.limits, input.basis.defaults);
    // What nobody asked for: half of the run's memory, below the ceiling. What was asked for is settled already.
    const Bytes half{plan.limits.memory.count / 2};
    const Bytes scratch = std::min(half, input.basis.storage.value_or(half));
    plan.limits.storage = request.limits.storage.value_or(scratch);
    // What memory cannot hold lies on the disk.
    plan.rootfs.scratch_on_disk = plan.limits.storage > plan.limits.memory;
    plan.limits.shm = request.limits.shm.value_or(scratch);
    TRY_OK(plan_rlimits(input, plan));

    const CgroupChance chance = best_chance(input.host, !request.limits.cpuset.empty());
    plan.cgroup.mode = chance.mode;
    plan.cgroup.parents = chance.parents;
    plan.cgroup.scope_bus = chance.scope_bus;
    if (input.host.cgroup_v2) plan.cgroup.view = input.host.cgroup_v2->mount;
    plan.namespaces.cgroup = chance.mode == CgroupMode::v2;
    TRY_OK(plan_cgroup_manager(input, plan));

    TRY_OK(plan_processors(input, chance, plan));
    TRY_OK(plan_block_io(input, chance, plan));
    TRY_OK(plan_cpu_time(input, chance, plan));
    if (chance.controllers.contains("memory")) {
        plan.cgroup.memory = plan.limits.memory;
        plan.cgroup.memory_swap = plan.limits.memory_swap;
    } else {
        TRY_OK(fall_back(wanted(input, "memory", request.limits.memory, to_string(plan.limits.memory)), "watcher",
                         chance.why_not, plan));
        plan.watch_memory = true;
    }
    if (chance.controllers.contains("cpu")) {
        plan.cgroup.cpus = plan.limits.cpus;
        plan.most_cpus = plan.limits.cpus;
    } else {
        plan.most_cpus = Cpus{static_cast<std::uint32_t>(1000 * input.host.cpus.size())};
        TRY_OK(fall_back(wanted(input, "cpus", request.limits.cpus, to_string(plan.limits.cpus)), "none",
                         chance.why_not, plan));
    }
    if (chance.controllers.contains("pids")) {
        plan.cgroup.pids = plan.limits.pids;
        return {};
    }
    // Only a user namespace makes RLIMIT_NPROC hold: uid 0 of the host is never counted.
    if (plan.id_mapping != IdMapping::none) return plan_pids_by_rlimit(input, chance.why_not, plan);
    return fall_back(wanted(input, "pids", request.limits.pids, std::to_string(plan.limits.pids)), "none",
                     chance.why_not, plan);
}

}  // namespace coracle::plan

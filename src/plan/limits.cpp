// Decides what enforces each limit on this host, or why it cannot be enforced here.
#include <algorithm>
#include <set>

#include "base/try.hpp"
#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

// Where a run's cgroup could be made and which controllers it would have.
struct CgroupChance {
    CgroupMode mode = CgroupMode::none;
    std::vector<Cgroup::Parent> parents;
    std::set<std::string> controllers;
    std::filesystem::path scope_bus;
    std::string why_not;  // for the limits whose controller is missing
};

std::string whose(const host::HostFacts& host) { return "uid " + std::to_string(host.uid); }

CgroupChance v2_chance(const host::CgroupV2& v2) {
    return {.mode = CgroupMode::v2,
            .parents = {{.controller = {}, .path = *v2.parent}},
            .controllers = {v2.controllers.begin(), v2.controllers.end()},
            .scope_bus = {},
            .why_not = "the controller is not delegated to '" + v2.parent->string() + "'"};
}

// app.slice, the slice for programs (systemd.special(7)): named to the manager, so that the path is known beforehand.
CgroupChance scope_chance(const host::UserManager& manager) {
    return {.mode = CgroupMode::v2,
            .parents = {{.controller = {}, .path = manager.directory / "app.slice"}},
            .controllers = {manager.controllers.begin(), manager.controllers.end()},
            .scope_bus = manager.bus,
            .why_not = "the controller is not delegated to '" + manager.directory.string() + "'"};
}

CgroupChance v1_chance(const host::HostFacts& host) {
    CgroupChance chance{.mode = CgroupMode::none,
                        .parents = {},
                        .controllers = {},
                        .scope_bus = {},
                        .why_not = "its cgroup v1 hierarchy is missing or not writable for " + whose(host)};
    for (const host::CgroupV1& v1 : host.cgroup_v1) {
        // freezer and cpuset hold nothing that a run needs; a hierarchy that is not joined costs nothing.
        if (!v1.writable || v1.controller == "freezer" || v1.controller == "cpuset") continue;
        chance.mode = CgroupMode::v1;
        chance.parents.push_back({.controller = v1.controller, .path = v1.own});
        chance.controllers.insert(v1.controller);
    }
    return chance;
}

// How many of our limits the controllers can hold. On a hybrid host the v2 hierarchy is there but has few or none.
std::size_t usefulness(const CgroupChance& chance) {
    return chance.controllers.count("memory") + chance.controllers.count("cpu") + chance.controllers.count("pids");
}

CgroupChance best_chance(const host::HostFacts& host) {
    CgroupChance v1 = v1_chance(host);
    if (host.cgroup_v2 && host.cgroup_v2->parent) {
        CgroupChance v2 = v2_chance(*host.cgroup_v2);
        if (usefulness(v2) > 0 && usefulness(v2) >= usefulness(v1)) return v2;
    }
    const bool refused = host.user_manager && !host.user_manager->refusal.empty();
    if (host.user_manager && !refused) {
        CgroupChance scope = scope_chance(*host.user_manager);
        if (usefulness(scope) > 0 && usefulness(scope) >= usefulness(v1)) return scope;
    }
    if (usefulness(v1) > 0) return v1;
    return {.mode = CgroupMode::none,
            .parents = {},
            .controllers = {},
            .scope_bus = {},
            .why_not = "no cgroup of this host is writable for " + whose(host) +
                       (refused ? ", and its service manager gave none: " + host.user_manager->refusal : "")};
}

bool is_required(const Request& request, const std::string& name) {
    const auto& names = request.require;
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& word) { return word == name || word == "all"; });
}

// One limit that a cgroup controller would enforce.
struct Wanted {
    std::string name;     // "memory"
    std::string flag;     // "--memory 64m", or the configuration's line
    std::string value;    // "64m"
    bool strict = false;  // asked for or required, and not best effort
};

Result<> fall_back(const Wanted& wanted, const std::string& mechanism, const std::string& why, ExecutionPlan& plan) {
    if (wanted.strict) {
        return make_error(
            ErrorCode::unsupported, wanted.flag + " cannot be enforced here: " + why,
            "delegate a cgroup to this user (systemd: a service or 'systemd-run --user' with Delegate=yes), "
            "run as root, or accept weaker limits with --best-effort");
    }
    plan.degraded.push_back({.limit = wanted.name, .wanted = wanted.value, .mechanism = mechanism, .reason = why});
    return {};
}

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

// Counted over all processes by the cgroup; without one each process alone has RLIMIT_CPU, in whole seconds.
Result<> plan_cpu_time(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan) {
    if (!plan.limits.cpu_time) return {};
    if (chance.controllers.contains(chance.mode == CgroupMode::v2 ? "cpu" : "cpuacct")) {
        plan.watch_cpu_time = true;
        return {};
    }
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

// Programs size their thread pools by what they see (nproc, sched_getaffinity(2)), not by their quota. Neighbours from
// a drawn one on, so that many small sandboxes spread over the machine.
std::vector<unsigned> choose_cpus(const std::vector<unsigned>& host, Cpus rate, unsigned draw) {
    const std::size_t wanted = std::max<std::size_t>(1, (rate.milli + 999) / 1000);
    std::vector<unsigned> chosen;
    if (wanted >= host.size()) return chosen;
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(host[(draw + i) % host.size()]);
    return chosen;
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
    plan.limits.shm = request.limits.shm.value_or(scratch);
    TRY_OK(plan_rlimits(input, plan));
    plan.affinity = choose_cpus(input.host.cpus, plan.limits.cpus, input.draw);

    const CgroupChance chance = best_chance(input.host);
    plan.cgroup.mode = chance.mode;
    plan.cgroup.parents = chance.parents;
    plan.cgroup.scope_bus = chance.scope_bus;
    if (input.host.cgroup_v2) plan.cgroup.view = input.host.cgroup_v2->mount;
    plan.namespaces.cgroup = chance.mode == CgroupMode::v2;
    TRY_OK(plan_cgroup_manager(input, plan));

    TRY_OK(plan_cpu_time(input, chance, plan));
    if (chance.controllers.contains("memory")) {
        plan.cgroup.memory = plan.limits.memory;
        plan.cgroup.memory_swap = plan.limits.memory_swap;
    } else {
        TRY_OK(fall_back(wanted(input, "memory", request.limits.memory, to_string(plan.limits.memory)), "none",
                         chance.why_not, plan));
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

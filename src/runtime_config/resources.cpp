// Writes `linux.resources`: the cgroup's limits.
#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

constexpr std::uint64_t cpu_period_us = 100'000;  // the kernel's own default, cpu.cfs_period_us

// `swap` is memory and swap together, also on cgroup v2, where the runtime subtracts: equal to the limit, no swap is
// left.
Json memory_part(Bytes limit, Bytes swap) { return {{"limit", limit.count}, {"swap", swap.count}}; }

Json cpu_part(Cpus cpus) { return {{"quota", cpus.milli * (cpu_period_us / 1000)}, {"period", cpu_period_us}}; }

// Only root's runs need it, and only they can have it: in a user namespace no device node can be made at all. The
// runtime itself permits the harmless nodes of /dev (runtime-spec, "Default Devices").
Json no_devices() { return Json::array({{{"allow", false}, {"access", "rwm"}}}); }

}  // namespace

Json resources_part(const plan::ExecutionPlan& plan) {
    Json part = Json();
    const bool any = plan.cgroup.memory || plan.cgroup.cpus || plan.cgroup.pids;
    if (any && plan.id_mapping == plan::IdMapping::none) part["devices"] = no_devices();
    if (plan.cgroup.memory) part["memory"] = memory_part(*plan.cgroup.memory, plan.cgroup.memory_swap);
    if (plan.cgroup.cpus) part["cpu"] = cpu_part(*plan.cgroup.cpus);
    if (plan.cgroup.pids) part["pids"] = {{"limit", *plan.cgroup.pids}};
    return part;
}

}  // namespace coracle::runtime_config

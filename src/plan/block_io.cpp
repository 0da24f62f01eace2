// Decides what holds the rates and the weight of a run on block devices.
#include "base/try.hpp"
#include "plan/ladder.hpp"

namespace coracle::plan {

Result<> plan_block_io(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan) {
    const LimitRequest& asked = input.request.limits;
    const bool possible = chance.mode == CgroupMode::v2 && chance.controllers.contains("io");
    const std::string why = chance.mode == CgroupMode::v1 ? "this host's disks are under cgroup v1" : chance.why_not;
    const std::string hint =
        chance.mode == CgroupMode::v1 ? "boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1)" : "";
    const bool strict = !input.request.best_effort;
    for (std::size_t at = 0; at < asked.io_max.size(); ++at) {
        const std::string words = asked.io_max[at].device + ":" + to_string(asked.io_max[at]);
        if (!possible) {
            TRY_OK(fall_back(
                {.name = "io_max", .flag = "--io-max " + words, .value = words, .strict = strict, .hint = hint}, "none",
                why, plan));
            continue;
        }
        plan.cgroup.io_max.push_back(asked.io_max[at]);
        if (at < input.io_devices.size()) plan.cgroup.io_max.back().device = input.io_devices[at];
    }
    if (!asked.io_weight) return {};
    if (possible) {
        plan.cgroup.io_weight = asked.io_weight;
        return {};
    }
    const std::string weight = std::to_string(*asked.io_weight);
    return fall_back(
        {.name = "io_weight", .flag = "--io-weight " + weight, .value = weight, .strict = strict, .hint = hint}, "none",
        why, plan);
}

}  // namespace coracle::plan

// Decides which CPUs the program may use, and how many of them it sees.
#include <algorithm>

#include "base/try.hpp"
#include "plan/ladder.hpp"

namespace coracle::plan {

namespace {

// Programs size their thread pools by what they see (nproc, sched_getaffinity(2)), not by their quota. Neighbours from
// a drawn one on, so that many small sandboxes spread over the machine.
std::vector<unsigned> choose_cpus(const std::vector<unsigned>& usable, Cpus rate, unsigned draw) {
    const std::size_t wanted = std::max<std::size_t>(1, (rate.milli + 999) / 1000);
    if (wanted >= usable.size()) return usable;
    std::vector<unsigned> chosen;
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(usable[(draw + i) % usable.size()]);
    return chosen;
}

Result<> plan_cpuset(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan) {
    const std::vector<unsigned>& asked = input.request.limits.cpuset;
    const std::vector<unsigned>& here = input.host.cpus;
    const std::string flag = "--cpuset " + to_string(asked);
    if (!std::includes(here.begin(), here.end(), asked.begin(), asked.end())) {
        return make_error(ErrorCode::invalid_request, flag + ": coracle itself may use the CPUs " + to_string(here),
                          "name some of these");
    }
    if (chance.controllers.contains("cpuset")) {
        plan.cgroup.cpuset = asked;
        return {};
    }
    // A program may widen its own affinity (sched_setaffinity(2)): that is what it sees, not what holds it.
    return fall_back({.name = "cpuset", .flag = flag, .value = to_string(asked), .strict = !input.request.best_effort},
                     "affinity", chance.why_not, plan);
}

}  // namespace

Result<> plan_processors(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan) {
    const std::vector<unsigned>& asked = input.request.limits.cpuset;
    if (!asked.empty()) TRY_OK(plan_cpuset(input, chance, plan));
    const std::vector<unsigned>& usable = asked.empty() ? input.host.cpus : asked;
    plan.affinity = choose_cpus(usable, plan.limits.cpus, input.draw);
    if (plan.affinity == input.host.cpus) plan.affinity.clear();
    return {};
}

}  // namespace coracle::plan

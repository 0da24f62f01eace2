// Implements the order in which the concerns of a plan are decided.
#include "plan/make_plan.hpp"

#include "base/try.hpp"
#include "plan/concerns.hpp"

namespace coracle::plan {

Result<ExecutionPlan> make_plan(const PlanInput& input) {
    TRY_OK(check_request(input.request));
    ExecutionPlan plan;
    plan.id_mapping = choose_id_mapping(input.host);
    plan.id_maps = make_id_maps(input.host, plan.id_mapping);
    plan.ownership = ownership_of(plan.id_mapping);
    plan.namespaces.network = input.request.network.value_or(NetworkMode::none) == NetworkMode::none;
    plan.hostname = "sandbox";
    TRY(plan.runtime, choose_runtime(input.request, input.host));
    TRY(const ResolvedUser user, choose_user(input, plan));
    note_platform(input, plan);
    TRY_OK(plan_process(input, user, plan));
    TRY_OK(plan_limits(input, plan));
    TRY_OK(plan_mounts(input, plan));
    TRY_OK(plan_rootfs(input, user, plan));
    return plan;
}

}  // namespace coracle::plan

// The concerns of a plan, one function and one file each; make_plan calls them in this order.
#pragma once

#include <algorithm>

#include "plan/identity.hpp"
#include "plan/make_plan.hpp"

namespace coracle::plan {

// Where every run may write, and where it starts when the image names no working directory.
inline constexpr const char* workspace = "/workspace";
// Where Request::script lies in the sandbox.
inline constexpr const char* script_path = "/coracle/script";

Result<> check_request(const Request& request);
Result<Runtime> choose_runtime(const Request& request, const host::HostFacts& host);
// The user inside; where the mapping cannot carry the image's user it is container root, with a warning.
Result<ResolvedUser> choose_user(const PlanInput& input, ExecutionPlan& plan);
void note_platform(const PlanInput& input, ExecutionPlan& plan);
Result<> plan_process(const PlanInput& input, const ResolvedUser& user, ExecutionPlan& plan);
Result<> plan_limits(const PlanInput& input, ExecutionPlan& plan);
Result<> plan_mounts(const PlanInput& input, ExecutionPlan& plan);
Result<> plan_rootfs(const PlanInput& input, const ResolvedUser& user, ExecutionPlan& plan);

}  // namespace coracle::plan

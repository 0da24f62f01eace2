// The plans whose bundles stand in bundles/: what make_plan decides for `coracle run busybox -- sh` on typical hosts.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace coracle::testing {

struct GoldenPlan {
    std::string name;  // of the folder in bundles/
    plan::ExecutionPlan plan;
};

std::vector<GoldenPlan> golden_plans();

plan::ExecutionPlan default_root_v2_plan();
plan::ExecutionPlan default_root_v1_plan();
plan::ExecutionPlan default_rootless_v2_plan();      // subordinate ids, a delegated cgroup
plan::ExecutionPlan default_rootless_single_plan();  // one id, no cgroup: what a bare host gives an ordinary user

}  // namespace coracle::testing

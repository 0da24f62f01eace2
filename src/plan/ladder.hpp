// What the concerns of the limits share: the cgroup that this host offers, and the step down where it lacks something.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/make_plan.hpp"

namespace coracle::plan {

// Where a run's cgroup could be made and which controllers it would have.
struct CgroupChance {
    CgroupMode mode = CgroupMode::none;
    std::vector<Cgroup::Parent> parents;
    std::set<std::string> controllers;
    std::filesystem::path scope_bus;  // as in Cgroup
    std::string why_not;              // for the limits whose controller is missing
};

// The best that this host offers; `cpuset`: somebody asks for that controller.
CgroupChance best_chance(const host::HostFacts& host, bool cpuset);

// One limit that a cgroup controller would enforce.
struct Wanted {
    std::string name;     // "memory"
    std::string flag;     // "--memory 64m", or the configuration's line
    std::string value;    // "64m"
    bool strict = false;  // asked for or required, and not best effort
    std::string hint{};   // the fix, where it is another than a cgroup that may be written
};

// Writes into the plan that `mechanism` stands in for a limit that the host cannot hold. Error: unsupported, where it
// is strict.
Result<> fall_back(const Wanted& wanted, const std::string& mechanism, const std::string& why, ExecutionPlan& plan);

// Which CPUs the program may use, and which it sees.
Result<> plan_processors(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan);
// Rates and weight on block devices.
Result<> plan_block_io(const PlanInput& input, const CgroupChance& chance, ExecutionPlan& plan);

}  // namespace coracle::plan

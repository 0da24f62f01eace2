// Writes what was decided before the start into the record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coracle/limits.hpp"
#include "coracle/request.hpp"
#include "coracle/result.hpp"
#include "engine/prepared.hpp"
#include "host/facts.hpp"

namespace coracle::engine {

// What the caller set, in the units of the command line: {"memory", "64m"}.
std::vector<std::pair<std::string, std::string>> requested_limits(const LimitRequest& asked);

// The limits that coracle itself watches over, as `limits.enforced` lists them beside what the kernel holds.
void list_watched(const plan::ExecutionPlan& plan, OutputMode output, std::vector<Enforced>& enforced);

void describe_plan(const Prepared& prepared, const host::HostFacts& host, RunResult& result);

}  // namespace coracle::engine

// Turns how a run ended and what its cgroup counted into the record's verdict.
#pragma once

#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"
#include "coracle/result.hpp"
#include "plan/plan.hpp"
#include "supervisor/supervise.hpp"

namespace coracle::engine {

// Reason, exit code, signal and message from the ending; the OOM killer's part from its counter, never from 137 alone.
void judge(const plan::ExecutionPlan& plan, const supervisor::Ending& ending, const cgroup::Reading& reading,
           RunResult& result);

// Usage from the cgroup, else from rusage.
void account(const plan::ExecutionPlan& plan, const supervisor::Ending& ending, const cgroup::Reading& reading,
             std::optional<Bytes> sampled_peak, RunResult& result);

// The record of a run that never began: the Error's reason, message, hint and stage.
void refuse(const Error& error, RunResult& result);

// What the program's process held, as init read it: security facts, and the limits that are rlimits.
void describe_process(const plan::ExecutionPlan& plan, const init::Started& started, RunResult& result);

// The mount points whose sizes init shall read back: everything that the program can fill.
std::vector<std::string> measured_mounts(const plan::ExecutionPlan& plan);

}  // namespace coracle::engine

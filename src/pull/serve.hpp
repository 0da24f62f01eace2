// Does a job that came as JSON and answers in JSON.
#pragma once

#include <functional>
#include <string>

namespace coracle::pull {

// `job`: {"pull": {...}} as in handoff/pull_job.hpp. The answer is {"images": [...]} or {"error": {...}}. `emit` takes
// the events on the way, from one thread at a time, at most ten a second of each layer.
std::string serve(const std::string& job, const std::function<void(const std::string& event)>& emit);

}  // namespace coracle::pull

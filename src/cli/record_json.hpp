// Writes the record of a run as JSON, in the shape of result.schema.json.
#pragma once

#include <string>

#include "coracle/engine.hpp"

namespace coracle::cli {

// One line with every key of the schema; null stands for unknown. With OutputMode::passthrough coracle never saw the
// program's output, so what the record says about it is null.
std::string record_json(const RunResult& result, OutputMode mode);

// {"error": {...}} for commands that have no record of a run.
std::string error_json(const Error& error);

// The record of a run that did not come to pass.
RunResult failed_result(const Error& error);

}  // namespace coracle::cli

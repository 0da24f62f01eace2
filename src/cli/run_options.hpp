// The options of `coracle run`, `plan` and `bundle`, and the Request that they make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/record_sinks.hpp"

namespace coracle::cli {

// What the options said, before any file that they name is read.
struct RunDraft {
    Request request;
    std::vector<std::string> env;        // -e, in order
    std::vector<std::string> env_files;  // read first: -e wins over any file
    std::optional<std::string> script;   // a path, or "-"
    RecordOptions record;
    bool quiet = false;  // no progress of a pull
};

// Everything that shapes the Request.
void add_request_options(std::vector<BoundOption>& options, RunDraft& draft);
// --json, --result, --result-fd, --quiet.
void add_record_options(std::vector<BoundOption>& options, RunDraft& draft);

// [IMAGE] [--] [COMMAND [ARG...]] as they stood on the command line. Without IMAGE, or with "--" in its place, it is
// the default image of the configuration.
Result<> take_words(RunDraft& draft, std::vector<std::string> words);

// Reads the environment files and the script, and makes host paths absolute.
Result<Request> finish_request(const RunDraft& draft, const Streams& streams);

}  // namespace coracle::cli

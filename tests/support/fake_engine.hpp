// An Engine in memory: notes what it was asked and answers what the test put into it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.hpp"

namespace coracle::testing {

// What the command line told the engine, and what the engine shall answer. Outlives the engines made from it.
struct FakeHost {
    std::function<RunResult(const Request&, int signal_fd)> on_run;
    std::optional<Error> open_error;
    std::optional<Error> error;  // what explain, write_bundle, import_image and images fail with
    std::vector<ImageInfo> images;
    std::vector<RunInfo> live;
    DoctorReport report;
    ImageDetails details;
    RemovalReport removal;
    DiskUsage usage;
    std::vector<std::string> login_warnings;

    EngineOptions options;
    std::vector<Request> requests;
    std::vector<ImportRequest> imports;
    std::vector<std::pair<std::string, int>> signals;
    std::vector<PullRequest> pulls;
    std::vector<PullEvent> pull_events;  // told by each pull and each run
    std::vector<std::string> refs;       // the words of the last inspect, tag or rmi
    GcRequest gc;
    SaveRequest save;
    std::vector<LoginRequest> logins;
    std::vector<LogoutRequest> logouts;
    std::string bundle_target;
    int runs = 0;
};

cli::EngineFactory fake_engines(FakeHost& host);

// The record of a program that exited with `status`.
RunResult exited(int status);

// run_cli with descriptors of its own: what came out of them, and the status.
struct CliRun {
    int status = 0;
    std::string out;
    std::string err;
};
CliRun run_cli(FakeHost& host, const std::vector<std::string>& args, const std::string& input = {});

}  // namespace coracle::testing

// The rows of the run options: spelling, help and the field of the Request that each one sets.
#include "cli/run_options.hpp"

#include "base/try.hpp"
#include "cli/values.hpp"

namespace coracle::cli {

namespace {

// A row's act, made of the field that it sets and the function that parses its value.
template <auto limit, auto parse>
Result<> set_limit(RunDraft& draft, const std::string& text) {
    TRY(draft.request.limits.*limit, parse(text));
    return {};
}

template <auto field, auto parse>
Result<> set(RunDraft& draft, const std::string& text) {
    TRY(draft.request.*field, parse(text));
    return {};
}

template <auto field>
Result<> set_text(RunDraft& draft, const std::string& text) {
    draft.request.*field = text;
    return {};
}

template <auto field, auto value>
Result<> set_to(RunDraft& draft, const std::string&) {
    draft.request.*field = value;
    return {};
}

template <auto field, auto parse>
Result<> append(RunDraft& draft, const std::string& text) {
    TRY(auto value, parse(text));
    (draft.request.*field).push_back(std::move(value));
    return {};
}

template <auto field, auto parse>
Result<> append_all(RunDraft& draft, const std::string& text) {
    TRY(const auto values, parse(text));
    for (const auto& value : values) (draft.request.*field).push_back(value);
    return {};
}

template <auto list>
Result<> collect(RunDraft& draft, const std::string& text) {
    (draft.*list).push_back(text);
    return {};
}

Result<> append_io_max(RunDraft& draft, const std::string& text) {
    TRY(IoMax rates, parse_io_max(text));
    draft.request.limits.io_max.push_back(std::move(rates));
    return {};
}

Result<> set_script(RunDraft& draft, const std::string& text) {
    draft.script = text;
    return {};
}

// "--entrypoint ''" drops the image's ENTRYPOINT, as docker run has it.
Result<> set_entrypoint(RunDraft& draft, const std::string& text) {
    draft.request.entrypoint.emplace();
    if (!text.empty()) draft.request.entrypoint->push_back(text);
    return {};
}

Result<> set_json(RunDraft& draft, const std::string&) {
    draft.record.json = true;
    return {};
}

Result<> set_result_file(RunDraft& draft, const std::string& text) {
    draft.record.file = text;
    return {};
}

Result<> set_result_fd(RunDraft& draft, const std::string& text) {
    TRY(draft.record.fd, parse_result_fd(text));
    return {};
}

Result<> not_built(RunDraft&, const std::string&) {
    return make_error(ErrorCode::unsupported, "is a known option but not built yet", "leave it out for now");
}

constexpr OptionRow<RunDraft> request_rows[]{
    {"-m,--memory", "SIZE", "Limits", "RAM, page cache and tmpfs together, swap closed: 512m, 1.5g (512m)",
     set_limit<&LimitRequest::memory, parse_bytes>},
    {"--memory-swap", "SIZE", "Limits", "RAM and swap together (the same as --memory: no swap)",
     set_limit<&LimitRequest::memory_swap, parse_bytes>},
    {"--cpus", "N", "Limits", "Processor rate: 0.5 is half of one CPU (1)", set_limit<&LimitRequest::cpus, parse_cpus>},
    {"--cpuset", "LIST", "Limits", "CPUs that may be used: 0-2,5 (any)",
     set_limit<&LimitRequest::cpuset, parse_cpu_list>},
    {"--pids", "N", "Limits", "Most processes and threads at once (256)", set_limit<&LimitRequest::pids, parse_count>},
    {"--timeout", "DURATION", "Limits", "Wall time of the program: 2s, 500ms, 1m30s (30s)",
     set_limit<&LimitRequest::wall_time, parse_duration>},
    {"--grace", "DURATION", "Limits", "Time between TERM and KILL when a time is up (1s)",
     set_limit<&LimitRequest::grace, parse_duration>},
    {"--cpu-time", "DURATION", "Limits", "Processor time of all its processes together (none)",
     set_limit<&LimitRequest::cpu_time, parse_duration>},
    {"--idle-timeout", "DURATION", "Limits", "Longest silence on both streams, with --json (none)",
     set_limit<&LimitRequest::idle_time, parse_duration>},
    {"--output-limit", "SIZE", "Limits", "Bytes kept of each captured stream, the rest is counted (8m)",
     set_limit<&LimitRequest::output, parse_bytes>},
    {"--output-excess", "WHAT", "Limits",
     "Beyond --output-limit: truncate (keep beginning and end), kill, or discard all (truncate)",
     set<&Request::output_excess, parse_output_excess>},
    {"--open-files", "N", "Limits", "Descriptors of each process (1024)",
     set_limit<&LimitRequest::open_files, parse_count>},
    {"--file-size", "SIZE", "Limits", "Size of each file that is written (none)",
     set_limit<&LimitRequest::file_size, parse_bytes>},
    {"--stack", "SIZE", "Limits", "Stack of each process (the caller's)", set_limit<&LimitRequest::stack, parse_bytes>},
    {"--storage", "SIZE", "Limits",
     "/workspace and what is written to a --writable root: in memory, or on disk above --memory (half of --memory)",
     set_limit<&LimitRequest::storage, parse_bytes>},
    {"--shm-size", "SIZE", "Limits", "/dev/shm (half of --memory)", set_limit<&LimitRequest::shm, parse_bytes>},
    {"--io-max", "DEVICE:RATES", "Limits",
     "Rates on a disk, with cgroup v2: RATES are rbps=SIZE, wbps=SIZE, riops=N, wiops=N a second (none)",
     append_io_max},
    {"--io-weight", "N", "Limits", "Share of a busy disk, 1 to 10000, with cgroup v2 (100)",
     set_limit<&LimitRequest::io_weight, parse_count>},
    {"--require", "LIST", "Limits", "Refuse the run where these defaults cannot be enforced: memory,cpus,pids,all",
     append_all<&Request::require, parse_required>},
    {"--best-effort", "", "Limits", "Run on where a limit that was asked for cannot be enforced, and report it",
     set_to<&Request::best_effort, true>},

    {"-v,--volume", "HOST:GUEST[:ro|rw]", "Files", "Show a file or directory of the host (rw)",
     append<&Request::volumes, parse_volume>},
    {"--tmpfs", "PATH[:OPTIONS]", "Files", "Empty file system in memory; OPTIONS are size=64m, inodes=N, exec, noexec",
     append<&Request::tmpfs, parse_tmpfs>},
    {"--read-only", "", "Files", "Root file system that cannot be written (the default)",
     set_to<&Request::writable_root, false>},
    {"--writable", "", "Files", "Root file system that can be written; what is written goes with the run",
     set_to<&Request::writable_root, true>},
    {"--script", "FILE|-", "Files",
     "Run the text of FILE, or of stdin (at most 4m): by COMMAND, else by its #! line, else by /bin/sh", set_script},

    {"-e,--env", "NAME[=VALUE]", "Program", "Set a variable; without a value, pass on the caller's",
     collect<&RunDraft::env>},
    {"--env-file", "FILE", "Program", "Set a variable for each line NAME[=VALUE] of FILE",
     collect<&RunDraft::env_files>},
    {"-w,--workdir", "DIR", "Program", "Working directory in the sandbox", set<&Request::workdir, parse_guest_dir>},
    {"-u,--user", "USER[:GROUP]", "Program", "Names or numbers, looked up in the image", set_text<&Request::user>},
    {"--entrypoint", "PROGRAM", "Program", "Replace the image's ENTRYPOINT and drop its CMD", set_entrypoint},
    {"-i,--interactive", "", "Program", "Give the program coracle's stdin; without it stdin is empty",
     set_to<&Request::stdin_mode, StdinMode::inherit>},

    {"--network", "MODE", "Isolation", "none or host (none)", set<&Request::network, parse_network>},
    {"--cap-add", "CAP", "Isolation", "Give a capability, such as NET_BIND_SERVICE; there are none by default",
     append_all<&Request::cap_add, parse_list>},
    {"--cap-drop", "CAP", "Isolation", "Take away what --cap-add gave; ALL for everything",
     append_all<&Request::cap_drop, parse_list>},
    {"--seccomp", "PROFILE", "Isolation", "Name, file or 'unconfined' (default)", set_text<&Request::seccomp>},

    {"--runtime", "NAME|PATH", "Runtime and image", "runc, crun, auto or the path of one (runc)",
     set_text<&Request::runtime>},
    {"--pull", "WHEN", "Runtime and image", "missing, always or never (missing)", set<&Request::pull, parse_pull>},

    // Words of the design that somebody may try.
    {"-t,--tty", "", hidden_group, "A terminal for the program", not_built},
    {"--publish", "PORT", hidden_group, "A port of the sandbox on the host", not_built},
    {"--allow", "HOST:PORT", hidden_group, "An address that --network egress lets through", not_built},
    {"--profile", "NAME", hidden_group, "A named set of defaults", not_built},
};

constexpr OptionRow<RunDraft> record_rows[]{
    {"--json", "", "Record", "Capture both streams; print one JSON record on stdout and nothing else", set_json},
    {"--result", "FILE", "Record", "Write the record to FILE", set_result_file},
    {"--result-fd", "N", "Record", "Write the record to descriptor N, 3 or above", set_result_fd},
    {"-q,--quiet", "", "Runtime and image", "Show no progress of a pull on stderr",
     [](RunDraft& draft, const std::string&) -> Result<> {
         draft.quiet = true;
         return {};
     }},
};

}  // namespace

void add_request_options(std::vector<BoundOption>& options, RunDraft& draft) {
    bind_rows(options, request_rows, draft);
}

void add_record_options(std::vector<BoundOption>& options, RunDraft& draft) { bind_rows(options, record_rows, draft); }

}  // namespace coracle::cli

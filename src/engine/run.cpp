// The story of a run: prepare, acquire, start, supervise, give back, judge. Teardown is the same row read backwards.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/hasher.hpp"
#include "engine/host_engine.hpp"
#include "engine/sandbox.hpp"
#include "engine/verdict.hpp"
#include "policy/bpf.hpp"
#include "runtime_config/runtime_config.hpp"
#include "supervisor/supervise.hpp"

namespace coracle::engine {

namespace {

// How long the end of a sandbox is waited for once everything in it has been killed.
constexpr auto end_patience = std::chrono::milliseconds(2000);

// The program's three descriptors and, in capture mode, our reading ends.
struct Stdio {
    base::UniqueFd null;
    supervisor::OutputPipe out_pipe;
    supervisor::OutputPipe err_pipe;
    std::optional<supervisor::Capture> out;
    std::optional<supervisor::Capture> err;
    int in_fd = -1;
    int out_fd = -1;
    int err_fd = -1;

    // The write ends are the program's alone from the start on; with ours open the streams would never end.
    void hand_over() {
        out_pipe.write.reset();
        err_pipe.write.reset();
    }
};

// A pipe that a program of another uid may reopen as /dev/stdout: it belongs to that uid. Where we may not give it
// away the program can still write to it, only not open it anew.
void give_to(const base::UniqueFd& pipe, const plan::ExecutionPlan& plan) {
    if (plan.id_mapping == plan::IdMapping::none)
        (void)!::fchown(pipe.get(), plan.process.user.uid, plan.process.user.gid);
}

// A directory as a stream would be a way out of the root: "/proc/self/fd/0/.." leads to the host.
Result<> check_stream(const char* name, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error(std::string("look at ") + name, errno);
    if (!S_ISDIR(status.st_mode) && (::fcntl(fd, F_GETFL) & O_PATH) == 0) return {};
    return make_error(ErrorCode::invalid_request, std::string(name) + " is a directory or no open file",
                      "give the sandbox a file, a pipe or a terminal");
}

Result<Stdio> make_stdio(const Request& request, const plan::ExecutionPlan& plan) {
    Stdio stdio;
    stdio.in_fd = request.streams.in;
    stdio.out_fd = request.streams.out;
    stdio.err_fd = request.streams.err;
    if (request.stdin_mode == StdinMode::empty) {
        TRY(stdio.null, base::open_file_at(AT_FDCWD, "/dev/null", O_RDONLY));
        stdio.in_fd = stdio.null.get();
    }
    TRY_OK(check_stream("stdin", stdio.in_fd));
    if (request.output_mode == OutputMode::passthrough) {
        TRY_OK(check_stream("stdout", stdio.out_fd));
        TRY_OK(check_stream("stderr", stdio.err_fd));
        return stdio;
    }
    TRY(stdio.out_pipe, supervisor::make_output_pipe());
    TRY(stdio.err_pipe, supervisor::make_output_pipe());
    give_to(stdio.out_pipe.write, plan);
    give_to(stdio.err_pipe.write, plan);
    stdio.out.emplace(std::move(stdio.out_pipe.read), plan.limits.output);
    stdio.err.emplace(std::move(stdio.err_pipe.read), plan.limits.output);
    stdio.out_fd = stdio.out_pipe.write.get();
    stdio.err_fd = stdio.err_pipe.write.get();
    return stdio;
}

Result<Stream> take_stream(std::optional<supervisor::Capture> capture) {
    Stream stream;
    if (!capture) return stream;
    stream.bytes_total = capture->total();
    stream.truncated = capture->truncated();
    stream.data = std::move(*capture).take();
    TRY(const oci::Digest digest, content::digest_of(stream.data));
    stream.sha256 = digest.hex();
    return stream;
}

double to_ms(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Stopwatch::Clock::now().time_since_epoch()).count();
}

// "64m" for what the caller set, so that a reader sees the words of the request.
std::vector<std::pair<std::string, std::string>> requested_limits(const LimitRequest& asked) {
    std::vector<std::pair<std::string, std::string>> rows;
    if (asked.memory) rows.emplace_back("memory", to_string(*asked.memory));
    if (asked.cpus) rows.emplace_back("cpus", to_string(*asked.cpus));
    if (asked.pids) rows.emplace_back("pids", std::to_string(*asked.pids));
    if (asked.wall_time) rows.emplace_back("wall_time", to_string(*asked.wall_time));
    if (asked.grace) rows.emplace_back("grace", to_string(*asked.grace));
    if (asked.output) rows.emplace_back("output", to_string(*asked.output));
    if (asked.open_files) rows.emplace_back("open_files", std::to_string(*asked.open_files));
    if (asked.file_size) rows.emplace_back("file_size", to_string(*asked.file_size));
    return rows;
}

std::vector<std::pair<std::string, std::string>> granted_limits(const Limits& limits) {
    return requested_limits({.memory = limits.memory,
                             .cpus = limits.cpus,
                             .pids = limits.pids,
                             .wall_time = limits.wall_time,
                             .grace = limits.grace,
                             .output = limits.output,
                             .open_files = limits.open_files,
                             .file_size = limits.file_size});
}

void describe_plan(const Prepared& prepared, const host::HostFacts& host, RunResult& result) {
    const plan::ExecutionPlan& plan = prepared.plan;
    result.image_ref = prepared.settled.request.image;
    result.manifest_digest = prepared.image.manifest_digest.str();
    result.config_digest = prepared.image.config_digest.str();
    result.runtime_name = plan.runtime.kind == plan::RuntimeKind::crun ? "crun" : "runc";
    result.runtime_version = plan.runtime.version;
    result.host_mode = host.privileged ? "root" : "rootless";
    result.host_cgroup = plan.cgroup.mode == plan::CgroupMode::v2   ? "cgroup2"
                         : plan.cgroup.mode == plan::CgroupMode::v1 ? "cgroup1"
                                                                    : "none";
    result.limits.granted = granted_limits(plan.limits);
    result.limits.clamped = prepared.settled.clamped;
    result.limits.degraded = plan.degraded;
    result.warnings = plan.warnings;
}

}  // namespace

RunResult HostEngine::run(const Request& request, int signal_fd) const {
    Stopwatch watch;
    RunResult result;
    result.id = base::random_hex(6);
    result.image_ref = request.image;
    result.limits.requested = requested_limits(request.limits);
    auto prepared = prepare(request, &result.timing_ms);
    if (prepared) describe_plan(prepared.value(), host_, result);
    const Result<> ran =
        prepared ? run_prepared(request, prepared.value(), signal_fd, result) : Result<>(std::move(prepared).error());
    if (!ran) refuse(ran.error(), result);
    result.timing_ms.total = watch.total();
    return result;
}

Result<> HostEngine::run_prepared(const Request& request, const Prepared& prepared, int signal_fd,
                                  RunResult& result) const {
    const plan::ExecutionPlan& plan = prepared.plan;
    Timing& timing = result.timing_ms;
    Stopwatch watch;
    SandboxOptions options{.id = result.id, .runs = places_.runs, .programs = {}, .cancel_fd = signal_fd};
    TRY(options.programs, runtime::install_programs(places_.store).at(Stage::config));
    TRY(std::string filter,
        policy::cached_bpf(store_.dir().get(), plan.process.seccomp, plan.process.capabilities).at(Stage::plan));
    TRY(const std::string config,
        runtime_config::fast_config(
            plan, {.root_path = root_path(options), .init_args = {std::string(init::program_path)}, .cgroups_path = {}})
            .at(Stage::config));
    TRY(Stdio stdio, make_stdio(request, plan).at(Stage::config));
    timing.config = watch.lap();

    const std::int64_t begun_ns = now_ns();
    TRY(Sandbox sandbox, Sandbox::create(prepared, options, config));
    const runtime::KeeperCreated& created = sandbox.container.times();
    timing.rootfs = to_ms(created.rootfs_done_ns - begun_ns);
    timing.create = to_ms(created.created_ns - created.rootfs_done_ns);

    TRY(result.limits.enforced, sandbox.cgroup.tighten().at(Stage::cgroup));
    TRY_OK(sandbox.container.start(
        {.argv = plan.process.args, .env = plan.process.env, .cwd = plan.process.cwd, .seccomp = std::move(filter)},
        stdio.in_fd, stdio.out_fd, stdio.err_fd));
    stdio.hand_over();
    const supervisor::Ending ending =
        supervisor::supervise(sandbox.container, {.wall_time = plan.limits.wall_time,
                                                  .grace = plan.limits.grace,
                                                  .signal_fd = signal_fd,
                                                  .out = stdio.out ? &*stdio.out : nullptr,
                                                  .err = stdio.err ? &*stdio.err : nullptr,
                                                  .kill_cgroup = [&sandbox] { (void)sandbox.cgroup.kill(); }});
    if (ending.started) {
        timing.start = to_ms(ending.started->at_ns - created.created_ns);
        timing.run = Stopwatch::ms(ending.over.time_since_epoch() - std::chrono::nanoseconds(ending.started->at_ns));
        describe_process(plan, *ending.started, result);
    }
    timing.drain = Stopwatch::ms(ending.drained - ending.over);

    watch.lap();
    if (!sandbox.container.end(end_patience)) result.warnings.emplace_back("the sandbox's processes do not die");
    const cgroup::Reading reading = sandbox.cgroup.read();
    judge(plan, ending, reading, result);
    account(ending, reading, result);
    TRY(result.out, take_stream(std::move(stdio.out)));
    TRY(result.err, take_stream(std::move(stdio.err)));
    timing.collect = watch.lap();
    // What cannot be removed now is the next start's to sweep: the run's verdict stands.
    if (auto gone = std::move(sandbox.cgroup).retire(); !gone) result.warnings.push_back(gone.error().message);
    if (auto gone = std::move(sandbox.directory).retire(); !gone) result.warnings.push_back(gone.error().message);
    timing.remove = watch.lap();
    return {};
}

}  // namespace coracle::engine

// The story of a run: prepare, acquire, start, supervise, give back, judge. Teardown is the same row read backwards.
#include "base/files.hpp"
#include "base/try.hpp"
#include "engine/describe.hpp"
#include "engine/host_engine.hpp"
#include "engine/sandbox.hpp"
#include "engine/stdio.hpp"
#include "engine/verdict.hpp"
#include "policy/bpf.hpp"
#include "runtime_config/runtime_config.hpp"
#include "supervisor/supervise.hpp"

namespace coracle::engine {

namespace {

// How long the end of a sandbox is waited for once everything in it has been killed.
constexpr auto end_patience = std::chrono::milliseconds(2000);

double to_ms(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Stopwatch::Clock::now().time_since_epoch()).count();
}

std::optional<supervisor::CpuBudget> cpu_budget(const plan::ExecutionPlan& plan, const cgroup::Cgroup& cgroup) {
    if (!plan.watch_cpu_time) return std::nullopt;
    return supervisor::CpuBudget{
        .time = *plan.limits.cpu_time, .rate = plan.most_cpus, .used = [&cgroup] { return cgroup.cpu_used(); }};
}

}  // namespace

RunResult HostEngine::run(const Request& request, int signal_fd, const PullProgress& progress) const {
    Stopwatch watch;
    RunResult result;
    result.id = base::random_hex(6);
    result.image_ref = request.image;
    result.limits.requested = requested_limits(request.limits);
    auto prepared = prepare(request, {.progress = progress, .cancel_fd = signal_fd}, &result.timing_ms);
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
        runtime_config::fast_config(plan, {.root_path = root_path(options),
                                           .init_args = {std::string(init::program_path)},
                                           .cgroups_path = cgroup::cgroups_path(plan.cgroup, options.id)})
            .at(Stage::config));
    TRY(Stdio stdio, make_stdio(request, plan).at(Stage::config));
    timing.config = watch.lap();

    const std::int64_t begun_ns = now_ns();
    TRY(Sandbox sandbox, Sandbox::create(prepared, options, config));
    const runtime::KeeperCreated& created = sandbox.container.times();
    timing.rootfs = to_ms(created.rootfs_done_ns - begun_ns);
    timing.create = to_ms(created.created_ns - created.rootfs_done_ns);

    TRY(result.limits.enforced, sandbox.cgroup.tighten().at(Stage::cgroup));
    list_watched(plan, request.output_mode, result.limits.enforced);
    TRY_OK(sandbox.container.start({.argv = plan.process.args,
                                    .env = plan.process.env,
                                    .cwd = plan.process.cwd,
                                    .seccomp = std::move(filter),
                                    .cpus = plan.affinity,
                                    .measured = measured_mounts(plan)},
                                   stdio.in_fd, stdio.out_fd, stdio.err_fd));
    stdio.hand_over();
    const supervisor::Ending ending =
        supervisor::supervise(sandbox.container, {.wall_time = plan.limits.wall_time,
                                                  .idle_time = plan.limits.idle_time,
                                                  .cpu = cpu_budget(plan, sandbox.cgroup),
                                                  .grace = plan.limits.grace,
                                                  .signal_fd = signal_fd,
                                                  .control_fd = sandbox.directory.control_fd(),
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

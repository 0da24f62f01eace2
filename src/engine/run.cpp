// The story of a run: prepare, acquire, start, supervise, give back, judge. Teardown is the same row read backwards.
#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "engine/describe.hpp"
#include "engine/disk_scratch.hpp"
#include "engine/host_engine.hpp"
#include "engine/sandbox.hpp"
#include "engine/stdio.hpp"
#include "engine/verdict.hpp"
#include "policy/bpf.hpp"
#include "runtime_config/runtime_config.hpp"
#include "supervisor/supervise.hpp"

namespace coracle::engine {

namespace {

// What is left of the time in which the caller was promised an answer.
std::chrono::milliseconds end_patience(const supervisor::Ending& ending) {
    const auto left = ending.promised - Stopwatch::Clock::now();
    return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
}

double to_ms(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Stopwatch::Clock::now().time_since_epoch()).count();
}

std::optional<supervisor::CpuBudget> cpu_budget(const plan::ExecutionPlan& plan, const cgroup::Cgroup& cgroup) {
    if (!plan.watch_cpu_time) return std::nullopt;
    supervisor::CpuBudget budget{.time = *plan.limits.cpu_time, .rate = plan.most_cpus, .used = {}};
    if (!plan.count_cpu) budget.used = [&cgroup] { return cgroup.cpu_used(); };
    return budget;
}

std::optional<std::uint64_t> cpu_seconds(const plan::ExecutionPlan& plan) {
    for (const plan::Rlimit& limit : plan.process.rlimits) {
        if (limit.type == plan::cpu_rlimit) return limit.soft;
    }
    return std::nullopt;
}

init::Job init_job(const plan::ExecutionPlan& plan, std::string filter, bool count_cpu) {
    return {.argv = plan.process.args,
            .env = plan.process.env,
            .cwd = plan.process.cwd,
            .seccomp = std::move(filter),
            .cpus = plan.affinity,
            .measured = measured_mounts(plan),
            .cpu_seconds = cpu_seconds(plan),
            .count_cpu = count_cpu};
}

// All that it refers to must outlive it.
supervisor::Watch watch_of(const plan::ExecutionPlan& plan, const Sandbox& sandbox, Stdio& stdio,
                           supervisor::MemoryWatch* memory, int signal_fd) {
    return {.wall_time = plan.limits.wall_time,
            .idle_time = plan.limits.idle_time,
            .cpu = cpu_budget(plan, sandbox.cgroup),
            .memory = memory,
            .grace = plan.limits.grace,
            .signal_fd = signal_fd,
            .control_fd = sandbox.directory.control_fd(),
            .out = stdio.out ? &*stdio.out : nullptr,
            .err = stdio.err ? &*stdio.err : nullptr,
            .kill_cgroup = [&sandbox] { (void)sandbox.cgroup.kill(); }};
}

}  // namespace

RunResult HostEngine::run(const Request& request, int signal_fd, const PullProgress& progress) const {
    Stopwatch watch;
    RunResult result;
    result.id = base::random_hex(6);
    result.image_ref = request.image;
    result.limits.requested = requested_limits(request.limits);
    const PullWatch pull{.progress = progress, .cancel_fd = signal_fd};
    const Result<> ran = attempt(request, host_, pull, result);
    if (!ran) refuse(ran.error(), result);
    result.timing_ms.total = watch.total();
    return result;
}

Result<> HostEngine::attempt(const Request& request, const host::HostFacts& host, const PullWatch& pull,
                             RunResult& result) const {
    TRY(const Prepared prepared, prepare(request, host, pull, &result.timing_ms));
    describe_plan(prepared, host, result);
    Result<> ran = run_prepared(request, prepared, pull.cancel_fd, result);
    if (ran || ran.error().os_errno == ECANCELED) return ran;
    // What this host turned out not to give is a fact for another plan, which asks for it no more: it reports weaker
    // limits, and refuses those that were asked for. Nothing of the program has run by now.
    host::HostFacts known = host;
    if (!prepared.plan.cgroup.scope_bus.empty() && ran.error().stage == Stage::cgroup) {
        known.user_manager->refusal = ran.error().message;  // the user's service manager, or the scope that it gave
    } else if (prepared.plan.count_cpu && ran.error().code == ErrorCode::unsupported &&
               ran.error().stage == Stage::start) {
        known.perf_events = false;
    } else {
        return ran;
    }
    return attempt(request, known, pull, result);
}

Result<> HostEngine::run_prepared(const Request& request, const Prepared& prepared, int signal_fd,
                                  RunResult& result) const {
    const plan::ExecutionPlan& plan = prepared.plan;
    Timing& timing = result.timing_ms;
    Stopwatch watch;
    SandboxOptions options{
        .id = result.id, .runs = places_.runs, .programs = {}, .scratch = {}, .cancel_fd = signal_fd};
    // The machine's first perf event waits for an RCU grace period, 8 to 28 ms (kernel/events/core.c, account_event):
    // had here, while the runtime works, it is not the first one any more when init asks for its own.
    base::UniqueFd clock;
    if (plan.count_cpu) options.meanwhile = [&clock] { clock = base::open_task_clock(); };
    TRY(const DiskScratch scratch, DiskScratch::create(store_, plan).at(Stage::rootfs));
    options.scratch = scratch.path();
    TRY(options.programs, runtime::install_programs(places_.store).at(Stage::config));
    TRY(std::string filter,
        policy::cached_bpf(store_.dir().get(), plan.process.seccomp, plan.process.capabilities).at(Stage::plan));
    TRY(const std::string config,
        runtime_config::fast_config(plan, {.root_path = root_path(options),
                                           .init_args = {std::string(init::program_path)},
                                           .cgroups_path = cgroup::cgroups_path(plan.cgroup, options.id),
                                           .scratch_path = options.scratch})
            .at(Stage::config));
    TRY(Stdio stdio, make_stdio(request, plan).at(Stage::config));
    timing.config = watch.lap();

    const std::int64_t begun_ns = now_ns();
    TRY(Sandbox sandbox, Sandbox::create(prepared, options, config));
    const runtime::KeeperCreated& created = sandbox.container.times();
    timing.rootfs = to_ms(created.rootfs_done_ns - begun_ns);
    timing.create = to_ms(created.created_ns - created.rootfs_done_ns);

    if (plan.count_cpu && plan.watch_cpu_time && !clock) {
        return make_error(ErrorCode::unsupported, "the kernel refused to count processor time (perf_event_open(2))")
            .at(Stage::start);
    }
    TRY(result.limits.enforced, sandbox.cgroup.tighten().at(Stage::cgroup));
    list_watched(plan, request.output_mode, result.limits.enforced);
    TRY_OK(sandbox.container.start(init_job(plan, std::move(filter), static_cast<bool>(clock)), stdio.in_fd,
                                   stdio.out_fd, stdio.err_fd));
    stdio.hand_over();
    std::optional<supervisor::MemoryWatch> memory;
    if (plan.watch_memory) memory.emplace(sandbox.container.keeper_pid(), plan.limits.memory);
    const supervisor::Ending ending = supervisor::supervise(
        sandbox.container, watch_of(plan, sandbox, stdio, memory ? &*memory : nullptr, signal_fd));
    if (ending.started) {
        timing.start = to_ms(ending.started->at_ns - created.created_ns);
        timing.run = Stopwatch::ms(ending.over.time_since_epoch() - std::chrono::nanoseconds(ending.started->at_ns));
        describe_process(plan, *ending.started, result);
    }
    timing.drain = Stopwatch::ms(ending.drained - ending.over);

    watch.lap();
    // Before the keeper goes: a scope that has become empty is removed by systemd, and the figures with it. Nothing
    // runs in the run's own cgroup any more; init takes along what is in its pid namespace.
    const cgroup::Reading reading = sandbox.cgroup.read();
    result.stuck = !sandbox.container.end(end_patience(ending));
    judge(plan, ending, reading, result);
    account(plan, ending, reading, memory ? std::optional(memory->peak()) : std::nullopt, result);
    TRY(result.out, take_stream(std::move(stdio.out)));
    TRY(result.err, take_stream(std::move(stdio.err)));
    timing.collect = watch.lap();
    if (auto gone = std::move(sandbox).retire(result.stuck); !gone) result.warnings.push_back(gone.error().message);
    timing.remove = watch.lap();
    return {};
}

}  // namespace coracle::engine

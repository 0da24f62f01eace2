// The verdict is the first cause with its evidence: OOM from the counter, never from 137; exec failures by the shells'
// rule.
#include "engine/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace coracle::engine {
namespace {

using init::Failed;
using supervisor::Ending;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

plan::ExecutionPlan plan_of(std::string program = "sh") {
    plan::ExecutionPlan plan;
    plan.process.args = {std::move(program)};
    plan.process.cwd = "/work";
    plan.process.seccomp = "default";
    plan.limits.memory = 64_MiB;
    return plan;
}

constexpr int exit_status_of(int code) { return code << 8; }

Ending ended(Reason reason, int wait_status, std::string message = {}) {
    Ending ending;
    ending.started = init::Started{.at_ns = 1'000'000'000, .held = {}};
    ending.exited = init::Exited{.wait_status = wait_status,
                                 .at_ns = 3'500'000'000,
                                 .user_us = 250'000,
                                 .system_us = 125'000,
                                 .switches_voluntary = 11,
                                 .switches_involuntary = 5};
    ending.conclude(reason, std::move(message));
    return ending;
}

Ending exec_failure(Failed::Step step, int os_errno) {
    Ending ending;
    ending.failed = Failed{.step = step, .os_errno = os_errno};
    ending.conclude(Reason::exec_failed);
    return ending;
}

cgroup::Reading oom_kills(std::optional<std::uint64_t> count) {
    cgroup::Reading reading;
    reading.oom_kills = {.value = count, .source = "cgroup2"};
    return reading;
}

RunResult judged(const Ending& ending, const cgroup::Reading& reading = {},
                 const plan::ExecutionPlan& plan = plan_of()) {
    RunResult result;
    judge(plan, ending, reading, result);
    return result;
}

TEST(Judge, AProgramThatEndsByItselfHasItsExitCode) {
    for (const int code : {0, 1, 126, 127, 255}) {
        const RunResult result = judged(ended(Reason::exited, exit_status_of(code)));
        EXPECT_EQ(result.reason, Reason::exited);
        EXPECT_EQ(result.exit_code, code);
        EXPECT_EQ(result.signal, std::nullopt);
        EXPECT_EQ(result.message, "");
        EXPECT_EQ(result.stage, "");
    }
}

TEST(Judge, AProgramThatASignalEndsHasTheSignalAndNoExitCode) {
    const RunResult result = judged(ended(Reason::signaled, SIGSEGV));
    EXPECT_EQ(result.reason, Reason::signaled);
    EXPECT_EQ(result.signal, SIGSEGV);
    EXPECT_EQ(result.exit_code, std::nullopt);
    EXPECT_THAT(result.message, HasSubstr("signal 11 (SEGV)"));
}

TEST(Judge, ARealTimeSignalHasANumberWhereItHasNoName) {
    const RunResult result = judged(ended(Reason::signaled, 34));
    EXPECT_EQ(result.signal, 34);
    EXPECT_EQ(result.message, "the program was ended by signal 34");
}

struct OomRow {
    const char* what;
    Ending ending;
    std::optional<std::uint64_t> kills;
    Reason reason;
};

TEST(Judge, OomIsProvenByTheCounterAndByTheWayTheProgramEnded) {
    Ending no_word;
    no_word.conclude(Reason::internal);
    const std::vector<OomRow> table{
        {"killed, and the counter says by whom", ended(Reason::signaled, SIGKILL), 1, Reason::oom},
        {"killed by somebody else", ended(Reason::signaled, SIGKILL), 0, Reason::signaled},
        {"killed, and nobody counts", ended(Reason::signaled, SIGKILL), std::nullopt, Reason::signaled},
        {"a child was killed, the shell passed it on", ended(Reason::exited, exit_status_of(137)), 1, Reason::oom},
        {"137 of its own", ended(Reason::exited, exit_status_of(137)), 0, Reason::exited},
        {"a child was killed, the program went on", ended(Reason::exited, exit_status_of(0)), 3, Reason::exited},
        {"a child was killed, the program failed in its way", ended(Reason::exited, exit_status_of(1)), 1,
         Reason::exited},
        {"a child was killed, the program crashed", ended(Reason::signaled, SIGSEGV), 1, Reason::signaled},
        {"init was killed itself", no_word, 1, Reason::oom},
        {"init is gone for another reason", no_word, 0, Reason::internal},
        {"time was up first", ended(Reason::wall_timeout, SIGKILL), 1, Reason::wall_timeout},
        {"the caller ended it first", ended(Reason::cancelled, SIGKILL), 1, Reason::cancelled},
    };
    for (const OomRow& row : table) EXPECT_EQ(judged(row.ending, oom_kills(row.kills)).reason, row.reason) << row.what;
}

TEST(Judge, AnOomNamesTheLimitAndTheFlagThatRaisesIt) {
    Ending no_word;
    no_word.conclude(Reason::internal, "the sandbox's keeper was killed from outside");
    const RunResult result = judged(no_word, oom_kills(1));
    EXPECT_THAT(result.message, HasSubstr("64m"));
    EXPECT_THAT(result.hint, HasSubstr("--memory"));
    EXPECT_EQ(result.stage, "");
}

TEST(Judge, ATimeoutStaysTheCauseHoweverTheProgramEndedThen) {
    for (const int status : {exit_status_of(0), exit_status_of(143), SIGTERM, SIGKILL}) {
        const RunResult result = judged(ended(Reason::wall_timeout, status, "ended after 2s (--timeout)"));
        EXPECT_EQ(result.reason, Reason::wall_timeout);
        EXPECT_EQ(result.message, "ended after 2s (--timeout)");
    }
    Ending ending = ended(Reason::wall_timeout, SIGKILL, "first");
    ending.conclude(Reason::signaled, "second");
    EXPECT_EQ(judged(ending).reason, Reason::wall_timeout);
    EXPECT_EQ(judged(ending).message, "first");
}

TEST(Judge, AnExecFailureIs127WhereSomethingIsMissingAnd126WhereItIsRefused) {
    const std::vector<std::tuple<const char*, int, int, const char*, const char*>> table{
        {"nope", ENOENT, 127, "'nope': not found in PATH", ""},
        {"/bin/nope", ENOENT, 127, "'/bin/nope': No such file", "interpreter"},
        {"/etc/passwd/x", ENOTDIR, 127, "Not a directory", "interpreter"},
        {"/etc/passwd", EACCES, 126, "'/etc/passwd': Permission denied", ""},
        {"/app", ENOEXEC, 126, "Exec format error", "'#!'"},
    };
    for (const auto& [program, os_errno, code, message, hint] : table) {
        const RunResult result = judged(exec_failure(Failed::Step::exec, os_errno), {}, plan_of(program));
        EXPECT_EQ(result.reason, Reason::exec_failed) << program;
        EXPECT_EQ(result.exit_code, code) << program;
        EXPECT_THAT(result.message, HasSubstr(message));
        EXPECT_THAT(result.hint, HasSubstr(hint));
    }
}

TEST(Judge, AProgramOfAnotherMachineIsToldAsOne) {
    plan::ExecutionPlan plan = plan_of("/app");
    plan.foreign_platform = "linux/s390x";
    EXPECT_THAT(judged(exec_failure(Failed::Step::exec, ENOEXEC), {}, plan).hint, HasSubstr("for linux/s390x, this"));
    EXPECT_EQ(judged(exec_failure(Failed::Step::exec, EACCES), {}, plan).hint, "");
}

TEST(Judge, AWorkingDirectoryThatIsMissingIsNamedWithTheFlag) {
    const RunResult missing = judged(exec_failure(Failed::Step::chdir, ENOENT));
    EXPECT_EQ(missing.reason, Reason::exec_failed);
    EXPECT_EQ(missing.exit_code, 127);
    EXPECT_THAT(missing.message, HasSubstr("working directory '/work': No such file"));
    EXPECT_THAT(missing.hint, HasSubstr("--workdir"));
    EXPECT_EQ(judged(exec_failure(Failed::Step::chdir, EACCES)).exit_code, 126);
}

TEST(Judge, AFilterThatDoesNotLoadIsCoraclesFailureAndNotTheProgramsEnd) {
    const RunResult result = judged(exec_failure(Failed::Step::seccomp, EINVAL));
    EXPECT_EQ(result.reason, Reason::setup_failed);
    EXPECT_EQ(result.exit_code, std::nullopt);
    EXPECT_THAT(result.message, HasSubstr("seccomp filter 'default': Invalid argument"));
}

TEST(Judge, StdioThatCannotBeHandedOverSaysSo) {
    EXPECT_THAT(judged(exec_failure(Failed::Step::stdio, EBADF)).message, HasSubstr("stdin, stdout and stderr"));
}

TEST(Judge, AnEndThatNobodyConcludedIsInternal) {
    const RunResult result = judged(Ending{});
    EXPECT_EQ(result.reason, Reason::internal);
    EXPECT_EQ(result.stage, "run");
}

TEST(Judge, AnInitThatIsKilledFromOutsideClaimsNothingOfTheProgram) {
    Ending ending;
    ending.container_exit = runtime::KeeperExited{.wait_status = SIGKILL};
    ending.conclude(Reason::internal, "the sandbox's init was killed from outside");
    const RunResult result = judged(ending);
    EXPECT_EQ(result.reason, Reason::internal);
    EXPECT_EQ(result.exit_code, std::nullopt);
    EXPECT_EQ(result.signal, std::nullopt);
}

TEST(Judge, ATimeoutWhoseProgramDiedWithInitWasASigkill) {
    Ending ending;
    ending.container_exit = runtime::KeeperExited{.wait_status = SIGKILL};
    ending.conclude(Reason::wall_timeout);
    EXPECT_EQ(judged(ending).signal, SIGKILL);
}

TEST(Judge, AProcessThatDoesNotDieIsAWarning) {
    Ending ending = ended(Reason::wall_timeout, SIGKILL);
    EXPECT_THAT(judged(ending).warnings, IsEmpty());
    ending.stuck = true;
    ASSERT_EQ(judged(ending).warnings.size(), 1U);
    EXPECT_THAT(judged(ending).warnings[0], HasSubstr("did not die"));
    EXPECT_TRUE(judged(ending).stuck);
}

TEST(Account, TakesTheCgroupsFiguresBeforeInits) {
    cgroup::Reading reading;
    reading.cpu_user_s = {.value = 9.0, .source = "cgroup2"};
    reading.memory_peak = {.value = 4096, .source = "cgroup2"};
    Ending ending = ended(Reason::exited, 0);
    ending.container_exit = runtime::KeeperExited{.max_rss = 1};
    RunResult result;
    account({}, ending, reading, std::nullopt, result);
    EXPECT_DOUBLE_EQ(result.usage.wall_s, 2.5);
    EXPECT_EQ(result.usage.cpu_user_s.value, 9.0);
    EXPECT_EQ(result.usage.cpu_user_s.source, "cgroup2");
    EXPECT_EQ(result.usage.cpu_system_s.value, 0.125);
    EXPECT_EQ(result.usage.cpu_system_s.source, "rusage_lower_bound");
    EXPECT_EQ(result.usage.memory_peak.value, 4096U);
    EXPECT_EQ(result.usage.io_read.value, std::nullopt);
}

TEST(Account, TheCostIsWhatTheFiguresSay) {
    cgroup::Reading reading;
    reading.memory_peak = {.value = (512_MiB).count, .source = "cgroup2"};
    reading.io_write = {.value = 4096, .source = "cgroup2"};
    plan::ExecutionPlan plan = plan_of();
    plan.cgroup.memory = 1_GiB;
    RunResult result;
    account(plan, ended(Reason::exited, 0), reading, std::nullopt, result);
    EXPECT_DOUBLE_EQ(result.cost.cpu_s.value(), 0.375);
    EXPECT_DOUBLE_EQ(result.cost.memory_gib_s.value(), 1.25);
    EXPECT_DOUBLE_EQ(result.cost.reserved_gib_s.value(), 2.5);
    EXPECT_EQ(result.cost.bytes_written, 4096U);
    EXPECT_EQ(result.usage.switches_voluntary.value, 11U);
    EXPECT_EQ(result.usage.switches_involuntary.value, 5U);
}

TEST(Account, ACostWhoseFiguresAreUnknownIsUnknown) {
    RunResult result;
    account(plan_of(), Ending{}, {}, std::nullopt, result);
    EXPECT_FALSE(result.cost.cpu_s || result.cost.memory_gib_s || result.cost.reserved_gib_s ||
                 result.cost.bytes_written);
}

TEST(Account, WhereNoCgroupCountsACounterAndSamplesDo) {
    Ending ending = ended(Reason::exited, 0);
    ending.cpu_counted = std::chrono::milliseconds(1500);
    ending.container_exit = runtime::KeeperExited{.max_rss = 8192};
    RunResult result;
    account({}, ending, {}, 4_MiB, result);
    EXPECT_EQ(result.usage.cpu_s.value, 1.5);
    EXPECT_EQ(result.usage.cpu_s.source, "perf");
    EXPECT_EQ(result.cost.cpu_s, 1.5);
    EXPECT_EQ(result.usage.cpu_user_s.source, "rusage_lower_bound");
    EXPECT_EQ(result.usage.memory_peak.value, (4_MiB).count);
    EXPECT_EQ(result.usage.memory_peak.source, "pss_sampled");
}

TEST(Account, WithoutACgroupRusageIsALowerBound) {
    Ending ending = ended(Reason::exited, 0);
    ending.container_exit = runtime::KeeperExited{.max_rss = 8192};
    RunResult result;
    account({}, ending, {}, std::nullopt, result);
    EXPECT_EQ(result.usage.cpu_user_s.value, 0.25);
    EXPECT_EQ(result.usage.memory_peak.value, 8192U);
    EXPECT_EQ(result.usage.memory_peak.source, "rusage_lower_bound");
    EXPECT_EQ(result.usage.oom_kills.value, std::nullopt);
}

TEST(Account, WhatNobodySawIsUnknownAndNotZero) {
    RunResult result;
    account({}, Ending{}, {}, std::nullopt, result);
    EXPECT_EQ(result.usage.wall_s, 0);
    EXPECT_FALSE(result.usage.cpu_user_s.value || result.usage.memory_peak.value || result.usage.pids_peak.value);
    EXPECT_EQ(result.usage.cpu_user_s.source, "none");
}

TEST(Account, AProgramThatNeverReportedItsEndRanUntilNothingRan) {
    Ending ending;
    ending.started = init::Started{.at_ns = 1'000'000'000, .held = {}};
    ending.over = std::chrono::steady_clock::time_point(std::chrono::seconds(4));
    RunResult result;
    account({}, ending, {}, std::nullopt, result);
    EXPECT_DOUBLE_EQ(result.usage.wall_s, 3.0);
}

TEST(Judge, SigxcpuIsTheProcessorTimeThatWasAskedFor) {
    plan::ExecutionPlan plan = plan_of();
    const auto judged = [&plan] {
        supervisor::Ending ending;
        ending.conclude(Reason::signaled);
        ending.exited = init::Exited{.wait_status = SIGXCPU};
        RunResult result;
        judge(plan, ending, {}, result);
        return result.reason;
    };
    EXPECT_EQ(judged(), Reason::signaled) << "the program's own limit, or its own doing";
    plan.limits.cpu_time = std::chrono::seconds(1);
    EXPECT_EQ(judged(), Reason::cpu_timeout);
}

TEST(Judge, SigkillIsTheProcessorTimeWhereItWasUsedUpAndNothingElseCountsIt) {
    plan::ExecutionPlan plan = plan_of();
    const auto reason = [&plan](int used_ms) {
        supervisor::Ending ending;
        ending.conclude(Reason::signaled);
        ending.exited = init::Exited{.wait_status = SIGKILL, .user_us = used_ms * 700, .system_us = used_ms * 300};
        return judged(ending, {}, plan).reason;
    };
    EXPECT_EQ(reason(2000), Reason::signaled) << "nobody asked for a limit";
    plan.limits.cpu_time = std::chrono::seconds(1);
    EXPECT_EQ(reason(999), Reason::signaled);
    EXPECT_EQ(reason(2000), Reason::cpu_timeout);
    plan.watch_cpu_time = true;
    EXPECT_EQ(reason(2000), Reason::signaled) << "the supervisor ends such a run, not the kernel";
}

TEST(Refuse, SaysWhoMayActByReasonAndStage) {
    const std::vector<std::tuple<ErrorCode, std::optional<Stage>, Reason, const char*>> table{
        {ErrorCode::not_found, Stage::resolve, Reason::image_failed, "resolve"},
        {ErrorCode::corrupt, Stage::unpack, Reason::image_failed, "unpack"},
        {ErrorCode::unsupported, Stage::plan, Reason::policy_refused, "plan"},
        {ErrorCode::denied, Stage::plan, Reason::policy_refused, "plan"},
        {ErrorCode::invalid_request, Stage::plan, Reason::setup_failed, "plan"},
        {ErrorCode::not_found, Stage::plan, Reason::setup_failed, "plan"},
        {ErrorCode::unsupported, Stage::rootfs, Reason::setup_failed, "rootfs"},
        {ErrorCode::denied, Stage::cgroup, Reason::setup_failed, "cgroup"},
        {ErrorCode::internal, Stage::start, Reason::setup_failed, "start"},
        {ErrorCode::unavailable, std::nullopt, Reason::setup_failed, "create"},
    };
    for (const auto& [code, stage, reason, word] : table) {
        RunResult result;
        refuse({.code = code, .message = "what", .hint = "fix", .stage = stage, .os_errno = 0}, result);
        EXPECT_EQ(result.reason, reason) << word;
        EXPECT_EQ(result.stage, word);
        EXPECT_EQ(result.message, "what");
        EXPECT_EQ(result.hint, "fix");
        EXPECT_EQ(result.exit_code, std::nullopt);
    }
}

}  // namespace
}  // namespace coracle::engine

// What the record says of the process that was about to become the program.
#include "engine/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/verdict.hpp"

namespace coracle::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

plan::ExecutionPlan plan_of() {
    plan::ExecutionPlan plan;
    plan.process.seccomp = "default";
    return plan;
}

TEST(DescribeProcess, SaysWhatTheProgramHeld) {
    init::Started started;
    started.held = {.capabilities = 1ULL | 1ULL << 21U,
                    .no_new_privileges = 1,
                    .seccomp = 2,
                    .namespaces = {"mnt:[1]", "net:[2]", "uts:[3]"}};
    RunResult result;
    describe_process(plan_of(), started, result);
    EXPECT_THAT(result.security.capabilities, ElementsAre("CAP_CHOWN", "CAP_SYS_ADMIN"));
    EXPECT_EQ(result.security.no_new_privileges, true);
    EXPECT_EQ(result.security.seccomp, "filter");
    EXPECT_EQ(result.security.seccomp_profile, "default");
    EXPECT_THAT(result.security.namespaces, ElementsAre("mount", "network", "uts"));
}

TEST(DescribeProcess, WhatCouldNotBeReadIsNotClaimed) {
    RunResult result;
    describe_process(plan_of(), init::Started{}, result);
    EXPECT_EQ(result.security.no_new_privileges, std::nullopt);
    EXPECT_EQ(result.security.seccomp, "");
    EXPECT_THAT(result.security.namespaces, IsEmpty());
}

TEST(DescribeProcess, ListsTheRlimitsThatThePlanSetAsTheKernelHeldThem) {
    plan::ExecutionPlan plan = plan_of();
    plan.process.rlimits = {{.type = "RLIMIT_NOFILE", .soft = 1024, .hard = 1024},
                            {.type = "RLIMIT_CORE", .soft = 1, .hard = 1}};
    init::Started started;
    started.held.open_files = 512;
    started.held.processes = 7;
    started.held.core = 1;
    started.held.cpus = 2;
    RunResult result;
    describe_process(plan, started, result);
    std::vector<std::string> rows;
    for (const Enforced& one : result.limits.enforced)
        rows.push_back(one.limit + " = " + one.value + " in " + one.source);
    EXPECT_THAT(rows, ElementsAre("open_files = 512 in rlimit RLIMIT_NOFILE", "core = 1 in rlimit RLIMIT_CORE",
                                  "visible_cpus = 2 in sched_getaffinity"));
}

TEST(DescribeProcess, ListsTheSizesOfWhatCanBeWritten) {
    plan::ExecutionPlan plan = plan_of();
    plan.mounts = {{.destination = "/dev", .type = "tmpfs", .source = {}, .options = {}},
                   {.destination = "/tmp", .type = "tmpfs", .source = {}, .options = {}},
                   {.destination = "/data", .type = "bind", .source = {}, .options = {}},
                   {.destination = "/gone", .type = "tmpfs", .source = {}, .options = {}}};
    plan.rootfs.read_only = false;
    EXPECT_THAT(measured_mounts(plan), ElementsAre("/", "/tmp", "/gone"));
    init::Started started;
    started.held.sizes = {{.bytes = 10, .inodes = 1}, {.bytes = 20, .inodes = 2}, {}};
    RunResult result;
    describe_process(plan, started, result);
    std::vector<std::string> rows;
    for (const Enforced& one : result.limits.enforced)
        rows.push_back(one.limit + " = " + one.value + " in " + one.source);
    rows.pop_back();  // visible_cpus
    EXPECT_THAT(rows, ElementsAre("size / = 10 in statfs", "inodes / = 1 in statfs", "size /tmp = 20 in statfs",
                                  "inodes /tmp = 2 in statfs"));
}

TEST(ListWatched, NamesWhatCoracleHoldsItselfAndNothingElse) {
    plan::ExecutionPlan plan = plan_of();
    const auto rows = [&plan](OutputMode output) {
        std::vector<Enforced> enforced;
        list_watched(plan, output, enforced);
        std::vector<std::string> texts;
        for (const Enforced& one : enforced) texts.push_back(one.limit + " = " + one.value);
        return texts;
    };
    EXPECT_THAT(rows(OutputMode::passthrough), ElementsAre("wall_time = 30s"));
    plan.limits.cpu_time = std::chrono::seconds(2);
    EXPECT_THAT(rows(OutputMode::passthrough), ElementsAre("wall_time = 30s")) << "held by an rlimit, not by us";
    plan.watch_cpu_time = true;
    plan.limits.idle_time = std::chrono::seconds(3);
    EXPECT_THAT(rows(OutputMode::capture),
                ElementsAre("wall_time = 30s", "idle_time = 3s", "cpu_time = 2s", "output = 8m"));
}

}  // namespace
}  // namespace coracle::engine

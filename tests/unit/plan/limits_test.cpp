// Each limit has the strongest mechanism that the host has, and one that was asked for is enforced or refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planning;
using testing::rlimit_of;

// "memory:watcher cpus:none pids:rlimit_nproc"
std::string degraded(const ExecutionPlan& plan) {
    std::string text;
    for (const Degraded& one : plan.degraded) text += (text.empty() ? "" : " ") + one.limit + ":" + one.mechanism;
    return text;
}

std::vector<std::string> parents(const ExecutionPlan& plan) {
    std::vector<std::string> rows;
    for (const Cgroup::Parent& parent : plan.cgroup.parents)
        rows.push_back(parent.controller + "=" + parent.path.string());
    return rows;
}

void drop_controller(host::HostFacts& host, const std::string& name) {
    std::erase_if(host.cgroup_v1, [&](const host::CgroupV1& v1) { return v1.controller == name; });
    if (host.cgroup_v2) std::erase(host.cgroup_v2->controllers, name);
    if (host.user_manager) std::erase(host.user_manager->controllers, name);
}

TEST(Limits, AllHoldInACgroupV2) {
    for (const host::HostFacts& host : {testing::root_on_v2(), testing::user_with_delegation()}) {
        const ExecutionPlan plan = Planning{.host = host}.plan();
        EXPECT_EQ(plan.cgroup.mode, CgroupMode::v2);
        EXPECT_THAT(parents(plan), ElementsAre("=" + host.cgroup_v2->parent->string()));
        EXPECT_EQ(plan.cgroup.memory, 512_MiB);
        EXPECT_EQ(plan.cgroup.cpus, Cpus{1000});
        EXPECT_EQ(plan.cgroup.pids, 256U);
        EXPECT_TRUE(plan.namespaces.cgroup);
        EXPECT_FALSE(plan.namespaces.nested_user);
        EXPECT_THAT(plan.degraded, IsEmpty());
        EXPECT_EQ(rlimit_of(plan, "RLIMIT_NPROC"), "(none)");
    }
}

TEST(Limits, AllHoldInAScopeOfTheUsersServiceManagerWhereNoCgroupIsWritable) {
    const ExecutionPlan plan = Planning{.host = testing::user_in_a_session()}.plan();
    EXPECT_EQ(plan.cgroup.mode, CgroupMode::v2);
    EXPECT_EQ(plan.cgroup.scope_bus, "/run/user/1000/bus");
    EXPECT_THAT(parents(plan), ElementsAre("=/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice"));
    EXPECT_EQ(plan.cgroup.memory, 512_MiB);
    EXPECT_TRUE(plan.namespaces.cgroup);
    EXPECT_THAT(plan.degraded, IsEmpty());
    EXPECT_EQ(Planning{.host = testing::user_with_delegation()}.plan().cgroup.scope_bus, "");
}

TEST(Limits, AServiceManagerWithoutControllersIsNotAsked) {
    host::HostFacts host = testing::user_in_a_session();
    host.user_manager->controllers = {"cpuset", "io"};
    const ExecutionPlan plan = Planning{.host = host}.plan();
    EXPECT_EQ(plan.cgroup.mode, CgroupMode::none);
    EXPECT_EQ(plan.cgroup.scope_bus, "");
}

TEST(Limits, AServiceManagerThatRefusedIsNotAskedAgainAndItsWordsAreTheReason) {
    Planning world{.host = testing::user_in_a_session()};
    world.host.user_manager->refusal = "Access denied";
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(plan.cgroup.mode, CgroupMode::none);
    EXPECT_EQ(degraded(plan), "memory:watcher cpus:none pids:rlimit_nproc");
    EXPECT_THAT(plan.degraded[0].reason, HasSubstr("service manager gave none: Access denied"));
    world.request.limits.memory = 64_MiB;
    EXPECT_THAT(world.refusal().message, AllOf(HasSubstr("--memory 64m"), HasSubstr("Access denied")));
}

TEST(Limits, AllHoldInTheHierarchiesOfV1ThatARunNeeds) {
    for (const host::HostFacts& host : {testing::root_on_v1(), testing::root_on_hybrid()}) {
        const ExecutionPlan plan = Planning{.host = host}.plan();
        EXPECT_EQ(plan.cgroup.mode, CgroupMode::v1);
        EXPECT_THAT(parents(plan), ElementsAre("memory=/sys/fs/cgroup/memory", "cpu=/sys/fs/cgroup/cpu",
                                               "cpuacct=/sys/fs/cgroup/cpuacct", "pids=/sys/fs/cgroup/pids",
                                               "blkio=/sys/fs/cgroup/blkio"));
        EXPECT_EQ(plan.cgroup.memory, 512_MiB);
        EXPECT_FALSE(plan.namespaces.cgroup);
        EXPECT_THAT(plan.degraded, IsEmpty());
    }
}

TEST(Limits, TheRuntimeIsShownTheV2MountWhereThereIsOne) {
    EXPECT_EQ(Planning{.host = testing::root_on_hybrid()}.plan().cgroup.view, "/sys/fs/cgroup/unified");
    EXPECT_EQ(Planning{.host = testing::root_on_v2()}.plan().cgroup.view, "/sys/fs/cgroup");
    EXPECT_EQ(Planning{.host = testing::root_on_v1()}.plan().cgroup.view, "/sys/fs/cgroup");
}

TEST(Limits, AnUnknownRuntimeManagesTheContainersCgroupBelowOurs) {
    Planning world{.host = testing::root_on_v2()};
    EXPECT_FALSE(world.plan().cgroup.runtime_managed);
    world.request.runtime = "/opt/youki";
    const ExecutionPlan plan = world.plan();
    EXPECT_TRUE(plan.cgroup.runtime_managed);
    EXPECT_EQ(plan.cgroup.mode, CgroupMode::v2);
    EXPECT_EQ(plan.cgroup.mount, "/sys/fs/cgroup");
    EXPECT_EQ(plan.cgroup.memory, 512_MiB);
}

TEST(Limits, AnUnknownRuntimeIsRefusedOnCgroupV1) {
    Planning world{.host = testing::root_on_v1()};
    world.request.runtime = "/opt/youki";
    const Error error = world.refusal();
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("/opt/youki"));
    EXPECT_THAT(error.hint, HasSubstr("runc or crun"));
}

TEST(Limits, TheHierarchyThatHoldsMoreOfThemIsTaken) {
    host::HostFacts host = testing::root_on_hybrid();
    host.cgroup_v2->controllers = {"cpu"};
    EXPECT_EQ(Planning{.host = host}.plan().cgroup.mode, CgroupMode::v1);
    drop_controller(host, "memory");
    drop_controller(host, "pids");
    host.cgroup_v2->controllers = {"memory", "pids"};
    EXPECT_EQ(Planning{.host = host}.plan().cgroup.mode, CgroupMode::v2);
    for (host::CgroupV1& v1 : host.cgroup_v1) v1.writable = false;
    host.cgroup_v2->controllers = {};
    EXPECT_EQ(Planning{.host = host}.plan().cgroup.mode, CgroupMode::none);
}

TEST(Limits, DefaultsFallToWhatABareUserHas) {
    const ExecutionPlan plan = Planning{.host = testing::bare_user()}.plan();
    EXPECT_EQ(plan.cgroup.mode, CgroupMode::none);
    EXPECT_THAT(parents(plan), IsEmpty());
    EXPECT_EQ(plan.cgroup.memory, std::nullopt);
    EXPECT_EQ(degraded(plan), "memory:watcher cpus:none pids:rlimit_nproc");
    EXPECT_EQ(plan.degraded[0].wanted, "512m");
    EXPECT_THAT(plan.degraded[0].reason, HasSubstr("no cgroup of this host is writable for uid 1000"));
    // init is one of the processes that RLIMIT_NPROC counts.
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_NPROC"), "257");
    EXPECT_TRUE(plan.namespaces.nested_user);
}

TEST(Limits, RootWithoutCgroupsHasNoRlimitForPidsEither) {
    const ExecutionPlan plan = Planning{.host = testing::root_without_cgroups()}.plan();
    EXPECT_EQ(degraded(plan), "memory:watcher cpus:none pids:none");
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_NPROC"), "(none)");
    EXPECT_FALSE(plan.namespaces.nested_user);
}

TEST(Limits, OnlyTheMissingControllerIsDegradedAndSaysWhereItIsMissing) {
    const std::vector<std::tuple<host::HostFacts, const char*, const char*, const char*>> table{
        {testing::user_with_delegation(), "cpu", "cpus:none", "not delegated to '/sys/fs/cgroup/user.slice"},
        {testing::user_with_delegation(), "pids", "pids:rlimit_nproc", "not delegated"},
        {testing::user_in_a_session(), "cpu", "cpus:none", "not delegated to '/sys/fs/cgroup/user.slice/user-1000"},
        {testing::root_on_v1(), "memory", "memory:watcher",
         "its cgroup v1 hierarchy is missing or not writable for uid 0"},
        {testing::root_on_v1(), "pids", "pids:none", "cgroup v1"},
    };
    for (const auto& [host, controller, words, reason] : table) {
        Planning world{.host = host};
        drop_controller(world.host, controller);
        const ExecutionPlan plan = world.plan();
        EXPECT_EQ(degraded(plan), words);
        EXPECT_THAT(plan.degraded[0].reason, HasSubstr(reason));
    }
}

struct Ask {
    const char* message;
    std::function<void(LimitRequest&)> limits;
    std::vector<std::string> require;
};

TEST(Limits, WhatWasAskedForOrRequiredIsRefusedWhereItCannotHold) {
    const auto nothing = [](LimitRequest&) {};
    const std::vector<Ask> table{
        {"--memory 64m cannot be enforced here: no cgroup", [](LimitRequest& limits) { limits.memory = 64_MiB; }, {}},
        {"--cpus 0.5 cannot be enforced here: no cgroup", [](LimitRequest& limits) { limits.cpus = Cpus{500}; }, {}},
        {"--pids 9 cannot be enforced here: no cgroup", [](LimitRequest& limits) { limits.pids = 9; }, {}},
        {"--require memory cannot", nothing, {"memory"}},
        {"--require cpus cannot", nothing, {"cpus"}},
        {"--require pids cannot", nothing, {"pids"}},
        {"--require memory cannot", nothing, {"all"}},
    };
    for (const Ask& ask : table) {
        Planning world{.host = testing::root_without_cgroups()};
        ask.limits(world.request.limits);
        world.request.require = ask.require;
        const Error error = world.refusal();
        EXPECT_EQ(error.code, ErrorCode::unsupported) << ask.message;
        EXPECT_THAT(error.message, HasSubstr(ask.message));
        EXPECT_THAT(error.hint, AllOf(HasSubstr("--best-effort"), HasSubstr("Delegate=yes")));
        world.request.best_effort = true;
        EXPECT_EQ(degraded(world.plan()), "memory:watcher cpus:none pids:none") << ask.message;
    }
}

TEST(Limits, RequiredOnesThatHoldAreNotDegraded) {
    Planning world;
    world.request.require = {"all"};
    EXPECT_THAT(world.plan().degraded, IsEmpty());
}

TEST(Limits, PidsThatAUserAskedForAreEnforcedByTheKernelsRlimit) {
    Planning world{.host = testing::bare_user()};
    world.request.limits.pids = 9;
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_NPROC"), "10");
    EXPECT_EQ(plan.degraded.back().wanted, "9");
}

TEST(Limits, RequestedValuesReplaceTheDefaults) {
    Planning world;
    world.request.limits = {.memory = 64_MiB,
                            .cpus = Cpus{1500},
                            .pids = 32,
                            .wall_time = Duration(5),
                            .grace = Duration(6),
                            .output = 1_KiB,
                            .open_files = 99,
                            .file_size = 3_MiB};
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(plan.cgroup.memory, 64_MiB);
    EXPECT_EQ(plan.cgroup.cpus, Cpus{1500});
    EXPECT_EQ(plan.cgroup.pids, 32U);
    EXPECT_EQ(plan.limits.wall_time, Duration(5));
    EXPECT_EQ(plan.limits.grace, Duration(6));
    EXPECT_EQ(plan.limits.output, 1_KiB);
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_NOFILE"), "99");
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_FSIZE"), "3145728");
}

TEST(Limits, ThereAreNoCoreFilesAndNoFileSizeUnlessAsked) {
    const ExecutionPlan plan = Planning().plan();
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_CORE"), "1");
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_NOFILE"), "1024");
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_FSIZE"), "(none)");
}

TEST(Limits, ProcessorTimeIsWatchedWhereACgroupCountsIt) {
    for (const host::HostFacts& host : {testing::root_on_v2(), testing::root_on_v1()}) {
        Planning world{.host = host};
        EXPECT_FALSE(world.plan().watch_cpu_time);
        world.request.limits.cpu_time = Duration(1'500'000'000);
        const ExecutionPlan plan = world.plan();
        EXPECT_TRUE(plan.watch_cpu_time);
        EXPECT_EQ(rlimit_of(plan, "RLIMIT_CPU"), "(none)");
    }
}

TEST(Limits, ProcessorTimeIsCountedByAPerfEventOnlyWhereNoCgroupCountsIt) {
    Planning world{.host = testing::root_on_v2()};
    world.host.perf_events = true;
    EXPECT_FALSE(world.plan().count_cpu);
    world.host = testing::bare_user();
    world.request.limits.cpu_time = Duration(1'500'000'000);
    world.host.perf_events = true;
    const ExecutionPlan plan = world.plan();
    EXPECT_TRUE(plan.count_cpu);
    EXPECT_TRUE(plan.watch_cpu_time);
    EXPECT_EQ(rlimit_of(plan, "RLIMIT_CPU"), "(none)");
}

TEST(Limits, ProcessorTimeWithoutACgroupIsRefusedOrHeldForEachProcessInWholeSeconds) {
    Planning world{.host = testing::bare_user()};
    world.request.limits.cpu_time = Duration(1'500'000'000);
    EXPECT_THAT(world.refusal().message, HasSubstr("--cpu-time 1500ms"));
    world.request.best_effort = true;
    const ExecutionPlan plan = world.plan();
    EXPECT_FALSE(plan.watch_cpu_time);
    const auto& rlimits = plan.process.rlimits;
    const auto cpu =
        std::find_if(rlimits.begin(), rlimits.end(), [](const Rlimit& one) { return one.type == "RLIMIT_CPU"; });
    ASSERT_NE(cpu, rlimits.end());
    EXPECT_EQ(cpu->soft, 2U);
    EXPECT_EQ(cpu->hard, 3U) << "the soft limit alone tells by SIGXCPU what it was";
    EXPECT_THAT(degraded(plan), HasSubstr("cpu_time:rlimit_cpu"));
}

TEST(Limits, TheProgramSeesAsManyCpusAsItsRateRoundedUpAndNoMoreThanThereAre) {
    Planning world;
    world.host.cpus = {0, 1, 2, 5};
    for (const auto& [milli, seen] : {std::pair{10U, 1U}, {1000U, 1U}, {1001U, 2U}, {2500U, 3U}}) {
        world.request.limits.cpus = Cpus{milli};
        EXPECT_EQ(world.plan().affinity.size(), seen) << milli;
    }
    for (const unsigned milli : {3001U, 4000U, 64000U}) {
        world.request.limits.cpus = Cpus{milli};
        EXPECT_THAT(world.plan().affinity, IsEmpty()) << "all that there are";
    }
}

TEST(Limits, TheCpusThatAreSeenAreNeighboursFromADrawnOneOn) {
    Planning world;
    world.host.cpus = {0, 1, 2, 5};
    world.request.limits.cpus = Cpus{2000};
    const auto drawn = [&world](unsigned draw) {
        PlanInput input = world.input();
        input.draw = draw;
        return test::must(make_plan(input)).affinity;
    };
    EXPECT_THAT(drawn(0), ElementsAre(0, 1));
    EXPECT_THAT(drawn(3), ElementsAre(5, 0));
    EXPECT_THAT(drawn(~0U), ElementsAre(5, 0)) << "4294967295 is 3 of 4";
}

TEST(Limits, TheMostProcessorTimeIsTheRateOrWhatTheHostHas) {
    Planning world;
    world.request.limits.cpus = Cpus{700};
    EXPECT_EQ(world.plan().most_cpus, Cpus{700});
    world.host = testing::root_on_v2();
    world.host.cpus = {0, 1, 2};
    drop_controller(world.host, "cpu");
    world.request.best_effort = true;
    EXPECT_EQ(world.plan().most_cpus, Cpus{3000});
}

}  // namespace
}  // namespace coracle::plan

// Which CPUs a run may use and which it sees; what holds its rates on disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planning;

void set_controllers(host::HostFacts& host, std::vector<std::string> names) {
    host.cgroup_v2->controllers = std::move(names);
}

TEST(Processors, ACpusetIsHeldByItsControllerAndIsWhatTheProgramSees) {
    Planning world{.host = testing::root_on_v2()};
    world.host.cpus = {0, 1, 2, 5};
    set_controllers(world.host, {"memory", "cpu", "pids", "cpuset"});
    world.request.limits.cpuset = {1, 5};
    world.request.limits.cpus = Cpus{4000};
    EXPECT_THAT(world.plan().cgroup.cpuset, ElementsAre(1, 5));
    EXPECT_THAT(world.plan().affinity, ElementsAre(1, 5)) << "the rate covers more";
    world.request.limits.cpus = Cpus{1000};
    EXPECT_THAT(world.plan().affinity, ElementsAre(1)) << "one of them, as the rate says";
    EXPECT_THAT(world.plan().degraded, IsEmpty());
}

TEST(Processors, ACpusetWithoutItsControllerIsRefusedOrOnlySeen) {
    Planning world{.host = testing::root_on_v2()};
    world.host.cpus = {0, 1, 2};
    set_controllers(world.host, {"memory", "cpu", "pids"});
    world.request.limits.cpuset = {1, 2};
    EXPECT_THAT(world.refusal().message, HasSubstr("--cpuset 1-2 cannot be enforced here"));
    world.request.best_effort = true;
    const ExecutionPlan plan = world.plan();
    EXPECT_THAT(plan.cgroup.cpuset, IsEmpty());
    ASSERT_EQ(plan.degraded.size(), 1U);
    EXPECT_EQ(plan.degraded[0].limit + ":" + plan.degraded[0].mechanism, "cpuset:affinity");
}

TEST(Processors, CpusThatCoracleMayNotUseItselfAreRefused) {
    Planning world;
    world.host.cpus = {0, 1};
    world.request.limits.cpuset = {1, 2};
    const Error error = world.refusal();
    EXPECT_THAT(error.message, HasSubstr("--cpuset 1-2"));
    EXPECT_THAT(error.message, HasSubstr("0-1"));
}

TEST(Processors, TheCpusetHierarchyOfV1IsJoinedByThoseWhoAskForIt) {
    Planning world{.host = testing::root_on_v1()};
    world.host.cpus = {0, 1};
    world.host.cgroup_v1.push_back({.controller = "cpuset", .mount = "/c", .own = "/c/own", .writable = true});
    const auto joined = [&world] {
        std::vector<std::string> names;
        for (const Cgroup::Parent& parent : world.plan().cgroup.parents) names.push_back(parent.controller);
        return names;
    };
    EXPECT_THAT(joined(), ::testing::Not(::testing::Contains("cpuset")));
    world.request.limits.cpuset = {0};
    EXPECT_THAT(joined(), ::testing::Contains("cpuset"));
    EXPECT_THAT(world.plan().cgroup.cpuset, ElementsAre(0));
}

TEST(BlockIo, RatesAndWeightAreTheCgroupsOnV2) {
    Planning world{.host = testing::root_on_v2()};
    world.request.limits.io_max = {{.device = "/data", .rbps = 1024}};
    world.request.limits.io_weight = 50;
    set_controllers(world.host, {"memory", "cpu", "pids", "io"});
    PlanInput input = world.input();
    input.io_devices = {"8:16"};
    const ExecutionPlan plan = test::must(make_plan(input));
    ASSERT_EQ(plan.cgroup.io_max.size(), 1U);
    EXPECT_EQ(plan.cgroup.io_max[0].device, "8:16");
    EXPECT_EQ(plan.cgroup.io_max[0].rbps, 1024U);
    EXPECT_EQ(plan.cgroup.io_weight, 50U);
}

TEST(BlockIo, OnV1ItIsRefusedOrReported) {
    Planning world{.host = testing::root_on_v1()};
    world.request.limits.io_max = {{.device = "8:0", .wiops = 7}};
    EXPECT_THAT(world.refusal().message, HasSubstr("--io-max 8:0:wiops=7 cannot be enforced here"));
    EXPECT_THAT(world.refusal().hint, HasSubstr("unified_cgroup_hierarchy"));
    world.request.limits.io_weight = 20;
    world.request.best_effort = true;
    const ExecutionPlan plan = world.plan();
    EXPECT_THAT(plan.cgroup.io_max, IsEmpty());
    EXPECT_FALSE(plan.cgroup.io_weight);
    ASSERT_EQ(plan.degraded.size(), 2U);
    EXPECT_EQ(plan.degraded[1].limit, "io_weight");
}

TEST(BlockIo, AWeightIsAtMostTenThousand) {
    Planning world{.host = testing::root_on_v2()};
    world.request.limits.io_weight = 10'001;
    EXPECT_THAT(world.refusal().message, HasSubstr("--io-weight 10001"));
}

}  // namespace
}  // namespace coracle::plan

// A run's figures are its own: the runtime's share is taken off, what is not known is not zero, and the cgroup goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgroup/cgroup.hpp"
#include "support/fake_cgroup.hpp"
#include "support/unprivileged.hpp"

namespace coracle::cgroup {
namespace {

namespace fs = std::filesystem;
using plan::CgroupMode;
using test::must;
using test::must_fail;
using Readings = testing::FakeCgroup;
using ::testing::HasSubstr;

TEST_F(Readings, OfV2AreWithoutTheRuntimesShare) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    must(cgroup.tighten());
    run("", {{"cpu.stat", "user_usec 3500000\nsystem_usec 1250000\nthrottled_usec 600000\n"},
             {"io.stat", "8:0 rbytes=1100 wbytes=30\n"},
             {"memory.events", "oom 1\noom_kill 2\n"}});
    const Reading reading = cgroup.read();
    EXPECT_DOUBLE_EQ(reading.cpu_user_s.value.value(), 0.5);
    EXPECT_DOUBLE_EQ(reading.cpu_system_s.value.value(), 0.25);
    EXPECT_NEAR(reading.cpu_throttled_s.value.value(), 0.1, 1e-9);
    EXPECT_EQ(reading.io_read.value, 1000U);
    EXPECT_EQ(reading.io_write.value, 20U);
    EXPECT_EQ(reading.oom_kills.value, 2U);
    for (const auto source : {reading.cpu_user_s.source, reading.io_read.source, reading.oom_kills.source}) {
        EXPECT_EQ(source, "cgroup2");
    }
}

TEST_F(Readings, OfV1AreWithoutTheRuntimesShare) {
    v1_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    must(cgroup.tighten());
    EXPECT_EQ(text("memory", "memory.max_usage_in_bytes"), "0") << "the kernel counts the peak from here";
    run("cpuacct", {{"cpuacct.usage_user", "3500000000\n"}, {"cpuacct.usage_sys", "1250000000\n"}});
    run("cpu", {{"cpu.stat", "throttled_time 3000000000\n"}});
    run("blkio", {{"blkio.throttle.io_service_bytes", "8:0 Read 1100\n8:0 Write 30\n"}});
    run("memory", {{"memory.max_usage_in_bytes", "7340032\n"}, {"memory.oom_control", "oom_kill 1\n"}});
    const Reading reading = cgroup.read();
    EXPECT_DOUBLE_EQ(reading.cpu_user_s.value.value(), 0.5);
    EXPECT_DOUBLE_EQ(reading.cpu_system_s.value.value(), 0.25);
    EXPECT_DOUBLE_EQ(reading.cpu_throttled_s.value.value(), 2.0);
    EXPECT_EQ(reading.io_read.value, 1000U);
    EXPECT_EQ(reading.io_write.value, 20U);
    EXPECT_EQ(reading.memory_peak.value, 7340032U);
    EXPECT_EQ(reading.memory_peak.source, "cgroup1");
    EXPECT_EQ(reading.oom_kills.value, 1U);
    EXPECT_FALSE(reading.pids_peak.value) << "v1 counts none";
}

TEST_F(Readings, ACounterThatFellIsZeroAndNotHuge) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    must(cgroup.tighten());
    run("", {{"io.stat", "8:0 rbytes=1 wbytes=1\n"}});
    EXPECT_EQ(cgroup.read().io_read.value, 0U);
}

TEST_F(Readings, WhatTheKernelDoesNotCountIsUnknown) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    for (const char* name : {"memory.peak", "pids.peak", "io.stat", "memory.events", "cpu.stat"}) erase("", name);
    must(cgroup.tighten());
    const Reading reading = cgroup.read();
    EXPECT_FALSE(reading.memory_peak.value || reading.pids_peak.value || reading.io_read.value ||
                 reading.io_write.value || reading.oom_kills.value || reading.cpu_user_s.value ||
                 reading.cpu_throttled_s.value);
    EXPECT_EQ(reading.memory_peak.source, "none");
    EXPECT_EQ(reading.pids_peak.source, "none");
}

TEST_F(Readings, APeakThatCanBeResetIsTheProgramsOwn) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    must(cgroup.tighten());
    EXPECT_EQ(text("", "memory.peak"), "000\n");
    run("", {{"memory.peak", "5000\n"}});
    EXPECT_EQ(cgroup.read().memory_peak.value, 5000U);
    EXPECT_EQ(cgroup.read().memory_peak.source, "cgroup2");
}

// Before Linux 6.12 memory.peak cannot be reset.
TEST_F(Readings, APeakThatCannotBeResetIsAnUpperBoundUntilTheProgramExceedsIt) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    fs::permissions(file("", "memory.peak"), fs::perms(0444));
    for (const char* name : {"memory.max", "memory.swap.max", "cpu.max", "pids.max"}) {
        fs::permissions(file("", name), fs::perms(0666));
    }
    {
        const test::TestDir elsewhere;
        const test::Unprivileged user(elsewhere.path());
        must(cgroup.tighten());
    }
    EXPECT_EQ(cgroup.read().memory_peak.value, 900U);
    EXPECT_EQ(cgroup.read().memory_peak.source, "cgroup2_upper_bound");
    run("", {{"memory.peak", "901\n"}});
    EXPECT_EQ(cgroup.read().memory_peak.value, 901U);
    EXPECT_EQ(cgroup.read().memory_peak.source, "cgroup2");
}

TEST_F(Readings, ThePidsPeakIsKnownOnlyAboveTheRuntimesAndWithoutInit) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    must(cgroup.tighten());
    EXPECT_EQ(cgroup.read().pids_peak.value, std::nullopt);
    EXPECT_EQ(cgroup.read().pids_peak.source, "none");
    run("", {{"pids.peak", "13\n"}});
    EXPECT_EQ(cgroup.read().pids_peak.value, 12U);
    EXPECT_EQ(cgroup.read().pids_peak.source, "cgroup2");
}

TEST_F(Readings, TheLastOneComesWithTheRemoval) {
    v1_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    must(cgroup.tighten());
    empty_all();
    must(std::move(cgroup).retire());
    for (const char* name : {"memory", "cpu", "cpuacct", "pids", "blkio"}) {
        EXPECT_TRUE(fs::exists(dir_ / name));
        EXPECT_FALSE(fs::exists(file(name, ""))) << name;
    }
}

TEST_F(Readings, ARuntimesOwnCgroupBelowOursIsRemovedWithIt) {
    v2_files();
    plan::Cgroup managed = wanted(CgroupMode::v2);
    managed.runtime_managed = true;
    Cgroup cgroup = must(Cgroup::create(managed, "r1"));
    EXPECT_EQ(cgroup.v2_directory(), "");
    empty();
    fs::create_directory(file("", "container"));
    must(std::move(cgroup).retire());
    EXPECT_FALSE(fs::exists(file("", "")));
}

TEST(CgroupsPath, IsBelowOursAndRelativeToTheMount) {
    plan::Cgroup managed;
    EXPECT_EQ(cgroups_path(managed, "r1"), "");
    managed.runtime_managed = true;
    managed.mount = "/sys/fs/cgroup";
    managed.parents = {{.controller = {}, .path = "/sys/fs/cgroup"}};
    EXPECT_EQ(cgroups_path(managed, "r1"), "/coracle-r1/container");
    managed.parents = {{.controller = {}, .path = "/sys/fs/cgroup/user.slice/a"}};
    EXPECT_EQ(cgroups_path(managed, "r1"), "/user.slice/a/coracle-r1/container");
}

TEST_F(Readings, OneHierarchyUnderTwoNamesIsRemovedOnce) {
    v1_files();
    for (const char* name : {"cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.stat"}) {
        fs::copy(file("cpu", name), file("cpuacct", name));
    }
    fs::remove_all(dir_ / "cpu");
    fs::create_directory_symlink("cpuacct", dir_ / "cpu");
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    must(cgroup.tighten());
    empty_all();
    must(std::move(cgroup).retire());
    EXPECT_FALSE(fs::exists(file("cpuacct", "")));
}

TEST_F(Readings, ARemovalThatFailsIsNamedAndItsStageIsDelete) {
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    const Error error = must_fail(std::move(cgroup).retire());
    EXPECT_THAT(error.message, HasSubstr("remove the cgroup 'coracle-r1'"));
    EXPECT_EQ(error.stage, Stage::remove);
}

TEST_F(Readings, AnOwnerThatIsDroppedRemovesItsCgroup) {
    v2_files();
    {
        const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
        empty();
    }
    EXPECT_FALSE(fs::exists(file("", "")));
}

TEST_F(Readings, KillingIsOneWriteOnV2AndNothingOnV1) {
    v2_files();
    const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    EXPECT_TRUE(cgroup.kill());
    EXPECT_EQ(text("", "cgroup.kill"), "1");
    erase("", "cgroup.kill");
    EXPECT_FALSE(cgroup.kill()) << "before Linux 5.14";
    v1_files();
    EXPECT_FALSE(must(Cgroup::create(wanted(CgroupMode::v1), "r1")).kill());
}

TEST_F(Readings, AStaleCgroupIsRemovedWhereItIsAndNotMissedWhereItIsNot) {
    v1_files();
    empty_all();
    fs::remove(file("blkio", ""));
    must(remove_stale({dir_ / "memory", dir_ / "blkio", dir_ / "gone"}, "r1"));
    EXPECT_FALSE(fs::exists(file("memory", "")));
    EXPECT_TRUE(fs::exists(dir_ / "blkio"));
    EXPECT_TRUE(fs::exists(file("pids", ""))) << "not among the parents";
    EXPECT_EQ(directory_name("r1"), "coracle-r1");
}

}  // namespace
}  // namespace coracle::cgroup

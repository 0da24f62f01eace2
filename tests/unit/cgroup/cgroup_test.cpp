// A run's cgroup is made and limited, on directory trees that look like those of the kernel.
#include "cgroup/cgroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_cgroup.hpp"
#include "support/unprivileged.hpp"

namespace coracle::cgroup {
namespace {

namespace fs = std::filesystem;
using plan::CgroupMode;
using RunsCgroup = testing::FakeCgroup;
using test::must;
using test::must_fail;
using test::read_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(RunsCgroup, V2StartsWithRoomForTheRuntimeAndSwapClosed) {
    v2_files();
    plan::Cgroup plan = wanted(CgroupMode::v2);
    plan.memory = 16_MiB;
    const Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    EXPECT_EQ(text("", "memory.max").substr(0, 8), "67108864");
    EXPECT_EQ(text("", "memory.swap.max"), "0\n");
    EXPECT_EQ(text("", "pids.max"), "192\n");
    EXPECT_EQ(text("", "cpu.max"), "max 100000   ") << "the start is not slowed down";
    EXPECT_EQ(cgroup.v2_directory(), (dir_ / "coracle-r1").string());
    EXPECT_THAT(cgroup.v1_tasks(), IsEmpty());
}

TEST_F(RunsCgroup, V1StartsWithRoomForTheRuntimeAndSwapClosed) {
    v1_files();
    const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    EXPECT_EQ(text("memory", "memory.limit_in_bytes"), "268435456");
    EXPECT_EQ(text("memory", "memory.memsw.limit_in_bytes"), "268435456");
    EXPECT_EQ(text("memory", "memory.swappiness"), "60");
    EXPECT_EQ(text("pids", "pids.max"), "192\n");
    EXPECT_EQ(cgroup.v2_directory(), "");
    EXPECT_THAT(cgroup.v1_tasks(),
                ElementsAre((dir_ / "memory/coracle-r1/tasks").string(), (dir_ / "cpu/coracle-r1/tasks").string(),
                            (dir_ / "cpuacct/coracle-r1/tasks").string(), (dir_ / "pids/coracle-r1/tasks").string(),
                            (dir_ / "blkio/coracle-r1/tasks").string()));
}

TEST_F(RunsCgroup, V1WithoutSwapAccountingSwapsAsLittleAsItCan) {
    v1_files();
    erase("memory", "memory.memsw.limit_in_bytes");
    const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    EXPECT_EQ(text("memory", "memory.swappiness"), "00");
}

TEST_F(RunsCgroup, ControllersAreHandedOnOnlyWhereTheyAreNotYet) {
    v2_files();
    const auto before = fs::last_write_time(dir_ / "cgroup.subtree_control");
    { const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1")); }
    EXPECT_EQ(fs::last_write_time(dir_ / "cgroup.subtree_control"), before);
    dir_.write("cgroup.subtree_control", "memory pids cpu\n");
    { const Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1")); }
    EXPECT_EQ(read_text(dir_ / "cgroup.subtree_control"), "+ioory pids cpu\n");
}

TEST_F(RunsCgroup, V2IsTightenedAndReadBack) {
    v2_files();
    run("", {{"cpu.max", "max 10000000\n"}});
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    run("", {{"memory.max", "268435456\n"}, {"cpu.max", "150000 100000\n"}});
    EXPECT_THAT(words(must(cgroup.tighten())),
                ElementsAre("memory = 268435456 in cgroup2 memory.max", "memory_swap = 0 in cgroup2 memory.swap.max",
                            "cpus = 150000 100000 in cgroup2 cpu.max", "pids = 129 in cgroup2 pids.max"));
}

TEST_F(RunsCgroup, V1IsTightenedAndReadBack) {
    v1_files();
    run("cpu", {{"cpu.cfs_quota_us", "-10000"}});
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    EXPECT_THAT(words(must(cgroup.tighten())),
                ElementsAre("memory = 268435456 in cgroup1 memory.limit_in_bytes",
                            "memory_swap = 268435456 in cgroup1 memory.memsw.limit_in_bytes",
                            "cpus = 150000 in cgroup1 cpu.cfs_quota_us", "pids = 129 in cgroup1 pids.max"));
}

TEST_F(RunsCgroup, SwapIsOpenedAsFarAsItWasAskedFor) {
    v2_files();
    run("", {{"memory.swap.max", "000000000\n"}, {"cpu.max", "150000 100000\n"}, {"memory.max", "268435456\n"}});
    plan::Cgroup plan = wanted(CgroupMode::v2);
    plan.memory_swap = 512_MiB;
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    EXPECT_THAT(words(must(cgroup.tighten())),
                ::testing::Contains("memory_swap = 268435456 in cgroup2 memory.swap.max"));
}

TEST_F(RunsCgroup, WithoutSwapAccountingNothingIsClaimedOfSwap) {
    v1_files();
    run("cpu", {{"cpu.cfs_quota_us", "-10000"}});
    erase("memory", "memory.memsw.limit_in_bytes");
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v1), "r1"));
    for (const std::string& row : words(must(cgroup.tighten()))) EXPECT_EQ(row.find("swap"), std::string::npos) << row;
}

TEST_F(RunsCgroup, OnlyThePlansLimitsAreSet) {
    v2_files();
    plan::Cgroup plan = wanted(CgroupMode::v2);
    plan.memory.reset();
    plan.cpus.reset();
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    EXPECT_THAT(words(must(cgroup.tighten())), ElementsAre("pids = 129 in cgroup2 pids.max"));
    EXPECT_EQ(text("", "memory.max"), "max      \n");
}

TEST_F(RunsCgroup, CpusetAndBlockIoOfV2AreSetAndReadBack) {
    v2_files();
    run("", {{"cpuset.cpus", ""}, {"io.max", ""}, {"io.bfq.weight", "default 100\n"}});
    plan::Cgroup plan;
    plan.mode = CgroupMode::v2;
    plan.parents = {{.controller = {}, .path = dir_.path()}};
    plan.cpuset = {0, 1, 2, 5};
    plan.io_max = {{.device = "8:0", .rbps = 1048576, .wiops = 10}};
    plan.io_weight = 200;
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    EXPECT_EQ(text("", "cpuset.cpus"), "0-2,5") << "before any process comes in";
    EXPECT_THAT(words(must(cgroup.tighten())),
                ElementsAre("cpuset = 0-2,5 in cgroup2 cpuset.cpus",
                            "io_max = 8:0 rbps=1048576 wbps=max riops=max wiops=10 in cgroup2 io.max",
                            "io_weight = default 200 in cgroup2 io.bfq.weight"));
    erase("", "io.bfq.weight");
    EXPECT_THAT(must_fail(cgroup.tighten()).message, HasSubstr("--io-weight"));
}

TEST_F(RunsCgroup, ACpusetOfV1GetsMemoryNodesFirst) {
    dir_.write("cpuset/cpuset.mems", "0-1\n");
    run("cpuset", {{"cpuset.mems", ""}, {"cpuset.cpus", ""}});
    plan::Cgroup plan;
    plan.mode = CgroupMode::v1;
    plan.parents = {{.controller = "cpuset", .path = dir_ / "cpuset"}};
    plan.cpuset = {1};
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    EXPECT_EQ(text("cpuset", "cpuset.mems"), "0-1");
    EXPECT_THAT(words(must(cgroup.tighten())), ElementsAre("cpuset = 1 in cgroup1 cpuset.cpus"));
}

TEST_F(RunsCgroup, AKernelThatHoldsMoreThanWasWrittenIsAnError) {
    const std::vector<std::tuple<const char*, const char*, const char*>> table{{"memory", "memory.max", "9999999999\n"},
                                                                               {"cpus", "cpu.max", "999999 1000000\n"},
                                                                               {"pids", "pids.max", "9999\n"}};
    for (const auto& [limit, file, longer] : table) {
        v2_files();
        run("", {{"memory.max", "268435456\n"}, {"cpu.max", "150000 100000\n"}});
        Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
        run("", {{file, longer}});
        const Error error = must_fail(cgroup.tighten());
        EXPECT_EQ(error.code, ErrorCode::unavailable) << file;
        EXPECT_EQ(error.stage, Stage::cgroup) << file;
        EXPECT_THAT(error.message, HasSubstr("the limit " + std::string(limit) + " was set to"));
        EXPECT_THAT(error.message, HasSubstr(file));
    }
}

// A file of the kernel that takes 129 and shows it as 00000081: another value than was written. Put back at the end.
class AnotherValue {
public:
    explicit AnotherValue(const fs::path& in_place_of) {
        fs::remove(in_place_of);
        fs::create_symlink(path, in_place_of);
    }
    ~AnotherValue() {
        if (before_) (void)base::write_value_at(AT_FDCWD, path, "0x" + before_.value().substr(0, 8));
    }
    bool works() const { return before_.has_value(); }

private:
    const std::string path = "/proc/self/coredump_filter";
    Result<std::string> before_ = base::read_file(path, 1_KiB);
};

TEST_F(RunsCgroup, AKernelThatHoldsAnotherCountIsAnErrorThoughItIsSmaller) {
    v2_files();
    plan::Cgroup plan = wanted(CgroupMode::v2);
    plan.memory.reset();
    plan.cpus.reset();
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    const AnotherValue kernel(file("", "pids.max"));
    if (!kernel.works()) GTEST_SKIP() << "this kernel has no coredump_filter";
    EXPECT_THAT(must_fail(cgroup.tighten()).message, HasSubstr("pids was set to 129 but the kernel holds 00000081"));
}

TEST_F(RunsCgroup, BytesMayBeRoundedDown) {
    v2_files();
    plan::Cgroup plan = wanted(CgroupMode::v2);
    plan.memory = Bytes{129};
    plan.cpus.reset();
    Cgroup cgroup = must(Cgroup::create(plan, "r1"));
    const AnotherValue kernel(file("", "memory.max"));
    if (!kernel.works()) GTEST_SKIP() << "this kernel has no coredump_filter";
    EXPECT_EQ(must(cgroup.tighten()).at(0).value, "00000081");
}

TEST_F(RunsCgroup, ALimitFileThatIsMissingIsAnErrorThatNamesIt) {
    v2_files();
    erase("", "pids.max");
    const Error error = must_fail(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    EXPECT_THAT(error.message, HasSubstr("pids.max"));
    EXPECT_THAT(error.message, HasSubstr("coracle-r1"));
    v2_files();
    Cgroup cgroup = must(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    erase("", "cpu.max");
    run("", {{"memory.max", "268435456\n"}});
    EXPECT_THAT(must_fail(cgroup.tighten()).message, HasSubstr("cpu.max"));
}

TEST_F(RunsCgroup, AControllerWithoutAHierarchyIsAnErrorThatNamesIt) {
    v1_files();
    plan::Cgroup plan = wanted(CgroupMode::v1);
    std::erase_if(plan.parents, [](const auto& parent) { return parent.controller == "pids"; });
    const Error error = must_fail(Cgroup::create(plan, "r1"));
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_THAT(error.message, HasSubstr("no pids cgroup"));
}

TEST_F(RunsCgroup, AParentThatIsGoneIsAnErrorAndTheRestIsRemoved) {
    v1_files();
    empty("memory");
    fs::remove_all(dir_ / "cpu");
    plan::Cgroup plan = wanted(CgroupMode::v1);
    EXPECT_EQ(must_fail(Cgroup::create(plan, "r1")).code, ErrorCode::not_found);
    EXPECT_FALSE(fs::exists(dir_ / "memory/coracle-r1"));
    EXPECT_TRUE(fs::exists(dir_ / "memory"));
}

TEST_F(RunsCgroup, AParentThatMayNotBeWrittenIsDenied) {
    fs::permissions(dir_.path(), fs::perms(0555));
    const test::TestDir elsewhere;
    const test::Unprivileged user(elsewhere.path());
    const Error error = must_fail(Cgroup::create(wanted(CgroupMode::v2), "r1"));
    EXPECT_EQ(error.code, ErrorCode::denied);
    EXPECT_THAT(error.message, HasSubstr("coracle-r1"));
}

TEST_F(RunsCgroup, NoneMakesNothingAndKnowsNothing) {
    Cgroup cgroup = must(Cgroup::create(plan::Cgroup{}, "r1"));
    EXPECT_THAT(must(cgroup.tighten()), IsEmpty());
    EXPECT_FALSE(cgroup.kill());
    const Reading reading = must(std::move(cgroup).retire());
    EXPECT_FALSE(reading.memory_peak.value || reading.oom_kills.value || reading.cpu_user_s.value);
    EXPECT_TRUE(fs::is_empty(dir_.path()));
}

}  // namespace
}  // namespace coracle::cgroup

// The cgroup hierarchies of every kind of host are found in the texts that its kernel shows.
#include "host/cgroups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_dir.hpp"
#include "support/unprivileged.hpp"

namespace coracle::host {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string root_mount = "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";
const std::string pure_v2 =
    root_mount + "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string pure_v1 = root_mount +
                            "30 20 0:25 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
                            "31 30 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                            "32 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                            "33 30 0:28 / /sys/fs/cgroup/pids rw shared:9 - cgroup cgroup rw,pids\n"
                            "34 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n";
const std::string unified = "35 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

class Cgroups : public ::testing::Test {
protected:
    // A v2 directory as the kernel shows it; `procs` are the processes in it. The root has no cgroup.type.
    void v2(const std::string& path, const std::string& controllers, const std::string& procs, bool root = false) {
        tree_.write(path + "/cgroup.controllers", controllers + "\n");
        tree_.write(path + "/cgroup.procs", procs);
        tree_.write(path + "/cgroup.subtree_control", "\n");
        if (!root) tree_.write(path + "/cgroup.type", "domain\n");
    }
    void v1(const std::string& controller, const std::string& own) { tree_.write(controller + own + "/tasks", ""); }
    void forbid(const std::string& path) {
        fs::permissions(tree_ / path, fs::perms::owner_read | fs::perms::owner_exec);
    }
    CgroupFacts read(const std::string& mountinfo, const std::string& memberships) {
        // Permission bits decide what is writable, so nobody may be root here.
        for (const auto& entry : fs::recursive_directory_iterator(tree_.path())) give(entry.path());
        const test::Unprivileged user(tree_.path());
        return read_cgroups(tree_.path(), mountinfo, memberships);
    }

    test::TestDir tree_;

private:
    static void give(const fs::path& path) { const test::Unprivileged owner(path); }
};

TEST_F(Cgroups, TheRootOfPureV2MayHoldRunsThoughItHoldsProcesses) {
    v2("sys/fs/cgroup", "cpuset cpu io memory pids", "1\n2\n", true);
    const CgroupFacts facts = read(pure_v2, "0::/\n");
    ASSERT_TRUE(facts.v2);
    EXPECT_EQ(facts.v2->mount, "/sys/fs/cgroup");
    EXPECT_EQ(facts.v2->own, "/sys/fs/cgroup");
    EXPECT_EQ(facts.v2->parent, "/sys/fs/cgroup");
    EXPECT_THAT(facts.v2->controllers, ElementsAre("cpuset", "cpu", "io", "memory", "pids"));
    EXPECT_THAT(facts.v1, IsEmpty());
}

TEST_F(Cgroups, ALeafWithProcessesIsLeftForTheDelegatedFolderAboveIt) {
    v2("sys/fs/cgroup", "cpu memory pids", "1\n", true);
    v2("sys/fs/cgroup/user.slice", "cpu memory pids", "");
    v2("sys/fs/cgroup/user.slice/app.slice", "memory pids", "");
    v2("sys/fs/cgroup/user.slice/app.slice/term.scope", "memory pids", "4711\n");
    const CgroupFacts facts = read(pure_v2, "0::/user.slice/app.slice/term.scope\n");
    ASSERT_TRUE(facts.v2);
    EXPECT_EQ(facts.v2->own, "/sys/fs/cgroup/user.slice/app.slice/term.scope");
    EXPECT_EQ(facts.v2->parent, "/sys/fs/cgroup/user.slice/app.slice");
    EXPECT_THAT(facts.v2->controllers, ElementsAre("memory", "pids"));
}

TEST_F(Cgroups, AnEmptyWritableLeafIsTheParentItself) {
    v2("sys/fs/cgroup", "memory", "1\n", true);
    v2("sys/fs/cgroup/job", "memory", "");
    EXPECT_EQ(read(pure_v2, "0::/job\n").v2->parent, "/sys/fs/cgroup/job");
}

TEST_F(Cgroups, AV2TreeThatIsNotOursHasNoParent) {
    v2("sys/fs/cgroup", "memory", "1\n", true);
    v2("sys/fs/cgroup/session.scope", "memory", "");
    for (const char* file : {"cgroup.procs", "cgroup.subtree_control", ""}) {
        SCOPED_TRACE(file);
        forbid("sys/fs/cgroup");
        const fs::path guarded = tree_ / ("sys/fs/cgroup/session.scope/" + std::string(file));
        fs::permissions(guarded, fs::perms(0555));
        const CgroupFacts facts = read(pure_v2, "0::/session.scope\n");
        ASSERT_TRUE(facts.v2);
        EXPECT_EQ(facts.v2->own, "/sys/fs/cgroup/session.scope");
        EXPECT_EQ(facts.v2->parent, std::nullopt);
        EXPECT_THAT(facts.v2->controllers, IsEmpty());
        fs::permissions(guarded, fs::perms(0755));
    }
}

TEST_F(Cgroups, TheTopOfACgroupNamespaceIsNoRootAndMustBeEmpty) {
    v2("sys/fs/cgroup", "memory", "1\n");
    EXPECT_EQ(read(pure_v2, "0::/\n").v2->parent, std::nullopt);
}

TEST_F(Cgroups, ABoundPartOfTheHierarchyIsSeenThroughItsMount) {
    v2("sys/fs/cgroup", "memory", "1\n");
    v2("sys/fs/cgroup/inner", "memory", "");
    const std::string part = "30 20 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
    EXPECT_EQ(read(part, "0::/docker/abc/inner\n").v2->own, "/sys/fs/cgroup/inner");
    EXPECT_EQ(read(part, "0::/docker/abc\n").v2->own, "/sys/fs/cgroup");
    EXPECT_EQ(read(part, "0::/elsewhere\n").v2->own, "/sys/fs/cgroup");
}

TEST_F(Cgroups, PureV1HasOneLineAControllerWithItsOwnFolder) {
    v1("sys/fs/cgroup/memory", "/user/1000");
    v1("sys/fs/cgroup/cpu,cpuacct", "");
    v1("sys/fs/cgroup/pids", "");
    forbid("sys/fs/cgroup/pids");
    const CgroupFacts facts = read(pure_v1, "9:memory:/user/1000\n8:cpu,cpuacct:/\n7:pids:/\n1:name=systemd:/x\n");
    EXPECT_FALSE(facts.v2);
    std::vector<std::string> rows;
    for (const CgroupV1& row : facts.v1)
        rows.push_back(row.controller + " " + row.own.string() + (row.writable ? " rw" : " ro"));
    EXPECT_THAT(rows, ElementsAre("memory /sys/fs/cgroup/memory/user/1000 rw", "cpu /sys/fs/cgroup/cpu,cpuacct rw",
                                  "cpuacct /sys/fs/cgroup/cpu,cpuacct rw", "pids /sys/fs/cgroup/pids ro"));
}

TEST_F(Cgroups, AV1FolderThatIsNotThereIsNotWritable) {
    v1("sys/fs/cgroup/memory", "");
    const CgroupFacts facts = read(pure_v1, "9:memory:/gone\n");
    ASSERT_FALSE(facts.v1.empty());
    EXPECT_FALSE(facts.v1[0].writable);
}

TEST_F(Cgroups, AHybridHostHasBothAndTheV2PartHandsOutNothing) {
    v1("sys/fs/cgroup/memory", "");
    v1("sys/fs/cgroup/cpu,cpuacct", "");
    v1("sys/fs/cgroup/pids", "");
    v2("sys/fs/cgroup/unified", "", "1\n", true);
    const CgroupFacts facts = read(pure_v1 + unified, "9:memory:/\n8:cpu,cpuacct:/\n7:pids:/\n0::/\n");
    EXPECT_EQ(facts.v1.size(), 4U);
    ASSERT_TRUE(facts.v2);
    EXPECT_EQ(facts.v2->parent, "/sys/fs/cgroup/unified");
    EXPECT_THAT(facts.v2->controllers, IsEmpty());
}

TEST_F(Cgroups, AHostWithoutCgroupsHasNone) {
    for (const std::string& mountinfo : {root_mount, std::string()}) {
        const CgroupFacts facts = read(mountinfo, "0::/\n");
        EXPECT_FALSE(facts.v2);
        EXPECT_THAT(facts.v1, IsEmpty());
    }
}

TEST_F(Cgroups, LinesThatNobodyUnderstandsAreLeftOut) {
    v2("sys/fs/cgroup", "memory", "", true);
    const CgroupFacts facts =
        read("30 20 0:26 / /x\n - cgroup2\n\n31 20 0:26 / /y rw - cgroup2\n" + pure_v2, "nonsense\n:\n0::/\n");
    ASSERT_TRUE(facts.v2);
    EXPECT_EQ(facts.v2->mount, "/sys/fs/cgroup");
}

TEST_F(Cgroups, WithoutAMembershipLineTheMountPointIsOwn) {
    v2("sys/fs/cgroup", "memory", "1\n", true);
    EXPECT_EQ(read(pure_v2, "").v2->own, "/sys/fs/cgroup");
}

class TheUsersServiceManager : public Cgroups {
protected:
    static constexpr const char* service = "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service";
    std::optional<UserManager> find() {
        return find_user_manager(tree_.path(), {.mount = "/sys/fs/cgroup", .own = {}, .parent = {}, .controllers = {}},
                                 1000);
    }
};

TEST_F(TheUsersServiceManager, IsFoundWithTheControllersThatItHandsOn) {
    v2(service, "cpu memory pids", "");
    tree_.write("run/user/1000/bus", "");
    const auto manager = find();
    ASSERT_TRUE(manager);
    EXPECT_EQ(manager->bus, "/run/user/1000/bus");
    EXPECT_EQ(manager->directory, std::string("/") + service);
    EXPECT_THAT(manager->controllers, ElementsAre("cpu", "memory", "pids"));
    EXPECT_EQ(manager->refusal, "");
}

TEST_F(TheUsersServiceManager, IsNotThereWithoutItsBusOrItsCgroup) {
    tree_.write("run/user/1000/bus", "");
    EXPECT_FALSE(find());
    v2(service, "cpu memory pids", "");
    EXPECT_TRUE(find());
    fs::remove(tree_ / "run/user/1000/bus");
    EXPECT_FALSE(find());
}

}  // namespace
}  // namespace coracle::host

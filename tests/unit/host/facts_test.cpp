// The probe reads its facts below a root and takes what it cannot read for absent.
#include "host/facts.hpp"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "support/test_dir.hpp"

namespace coracle::host {
namespace {

namespace fs = std::filesystem;

class Probe : public ::testing::Test {
protected:
    void program(const std::string& path, bool executable = true) {
        fs::permissions(tree_.write(path, "#!"), executable ? fs::perms(0755) : fs::perms(0644));
    }
    std::string found(const std::string& search_path, const std::string& name = "runc") {
        const auto program = find_program(tree_.path(), search_path, name);
        return program ? program->path.string() : "none";
    }

    test::TestDir tree_;
};

TEST_F(Probe, TheFirstExecutableOfThePathIsTheProgram) {
    program("opt/bin/runc");
    program("usr/bin/runc");
    EXPECT_EQ(found("/opt/bin:/usr/bin"), "/opt/bin/runc");
    EXPECT_EQ(found("/usr/bin:/opt/bin"), "/usr/bin/runc");
    EXPECT_EQ(found("/none::/usr/bin"), "/usr/bin/runc");
    EXPECT_EQ(found("/opt/bin:/usr/bin", "crun"), "none");
    EXPECT_EQ(found(""), "none");
}

TEST_F(Probe, WhatCannotBeExecutedIsNoProgram) {
    program("opt/bin/runc", false);
    fs::create_directories(tree_ / "home/runc");
    program("usr/bin/runc");
    EXPECT_EQ(found("/opt/bin:/home:/usr/bin"), "/usr/bin/runc");
}

TEST_F(Probe, RelativeFoldersOfThePathAreNotSearched) {
    program("bin/runc");
    EXPECT_EQ(found("bin:.:"), "none");
}

TEST_F(Probe, AnEmptyHostHasNothingButWhoWeAre) {
    const HostFacts facts = probe(tree_.path(), "/bin");
    EXPECT_EQ(facts.uid, ::geteuid());
    EXPECT_FALSE(facts.privileged);
    EXPECT_FALSE(facts.overlay);
    EXPECT_FALSE(facts.cgroup_v2);
    EXPECT_TRUE(facts.cgroup_v1.empty());
    EXPECT_TRUE(facts.subuids.empty() && facts.subgids.empty());
    EXPECT_FALSE(facts.runc || facts.crun || facts.newuidmap);
    EXPECT_EQ(facts.resolv_conf, "");
    EXPECT_FALSE(facts.machine.empty());
}

TEST_F(Probe, AUserMayCountHisProcessorTimeUpToTheKernelsDefaultLevel) {
    EXPECT_FALSE(probe(tree_.path(), "/bin").perf_events);
    const auto at_level = [this](const char* level) {
        tree_.write("proc/sys/kernel/perf_event_paranoid", level);
        return probe(tree_.path(), "/bin").perf_events;
    };
    EXPECT_TRUE(at_level("-1\n"));
    EXPECT_TRUE(at_level("2\n"));
    EXPECT_FALSE(at_level("3\n"));
    EXPECT_FALSE(at_level(""));
}

TEST_F(Probe, FindsOverlayfsAmongTheModulesOfThisKernel) {
    utsname names{};
    ASSERT_EQ(::uname(&names), 0);
    tree_.write("lib/modules/0.0.0-other/modules.dep", "kernel/fs/overlayfs/overlay.ko.xz:\n");
    EXPECT_FALSE(probe(tree_.path(), "").overlay);
    tree_.write(std::string("lib/modules/") + names.release + "/modules.dep", "kernel/fs/overlayfs/overlay.ko.xz:\n");
    EXPECT_TRUE(probe(tree_.path(), "").overlay);
}

TEST_F(Probe, ReadsWhatAHostHas) {
    const std::string uid = std::to_string(::geteuid());
    tree_.write("proc/filesystems", "nodev\ttmpfs\nnodev\toverlay\n\text4\n");
    tree_.write("etc/subuid", uid + ":100000:65536\n");
    tree_.write("etc/subgid", uid + ":200000:1000\n");
    tree_.write("etc/resolv.conf", "nameserver 192.0.2.1\n");
    program("usr/sbin/runc");
    program("home/me/bin/crun");
    program("usr/bin/newuidmap");
    const HostFacts facts = probe(tree_.path(), "/home/me/bin");
    EXPECT_TRUE(facts.overlay);
    ASSERT_EQ(facts.subuids.size(), 1U);
    EXPECT_EQ(facts.subuids[0].start, 100000U);
    ASSERT_EQ(facts.subgids.size(), 1U);
    EXPECT_EQ(facts.subgids[0].count, 1000U);
    EXPECT_EQ(facts.resolv_conf, "nameserver 192.0.2.1\n");
    ASSERT_TRUE(facts.runc && facts.crun && facts.newuidmap);
    EXPECT_EQ(facts.runc->path, "/usr/sbin/runc") << "also where the user's PATH does not lead";
    EXPECT_EQ(facts.crun->path, "/home/me/bin/crun");
}

TEST_F(Probe, RootIsPrivilegedOnlyWithTheCapabilityToMount) {
    tree_.write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
    EXPECT_EQ(probe(tree_.path(), "").privileged, ::geteuid() == 0);
    tree_.write("proc/self/status", "Name:\tx\nCapEff:\t00000000a80425fb\n");
    EXPECT_FALSE(probe(tree_.path(), "").privileged);
}

}  // namespace
}  // namespace coracle::host

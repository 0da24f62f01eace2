// The sandbox has the mounts that a program expects, the caller's in their place, each with a place to lie on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/concerns.hpp"
#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::generated_file;
using ::testing::HasSubstr;
using testing::mount_on;
using testing::mount_point_of;
using ::testing::Not;
using testing::Planning;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

Words destinations(const ExecutionPlan& plan) {
    Words names;
    for (const Mount& mount : plan.mounts) names.push_back(mount.destination);
    return names;
}

TEST(Mounts, AreTheSystemsThenTheScratchPlaces) {
    const ExecutionPlan plan = Planning().plan();
    EXPECT_THAT(destinations(plan),
                ElementsAre("/proc", "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", "/sys", "/tmp", "/workspace"));
    EXPECT_EQ(mount_on(plan, "/tmp")->options,
              (Words{"nosuid", "nodev", "mode=1777", "size=67108864", "nr_inodes=16384"}));
    EXPECT_EQ(mount_on(plan, "/workspace")->options,
              (Words{"nosuid", "nodev", "mode=1777", "size=268435456", "nr_inodes=65536"}));
    EXPECT_THAT(mount_on(plan, "/dev/shm")->options, Contains("size=268435456"));
    EXPECT_THAT(mount_on(plan, "/dev/shm")->options, Contains("nr_inodes=65536"));
    EXPECT_THAT(mount_on(plan, "/sys")->options, Contains("ro"));
}

TEST(Mounts, TheTtyGroupIsNamedOnlyWhereItHasAnId) {
    EXPECT_THAT(mount_on(Planning().plan(), "/dev/pts")->options, Contains("gid=5"));
    EXPECT_THAT(mount_on(Planning{.host = testing::user_with_delegation()}.plan(), "/dev/pts")->options,
                Contains("gid=5"));
    EXPECT_THAT(mount_on(Planning{.host = testing::bare_user()}.plan(), "/dev/pts")->options, Not(Contains("gid=5")));
}

TEST(Mounts, SysfsNeedsTheNetworkNamespaceOrRoot) {
    const std::vector<std::tuple<host::HostFacts, NetworkMode, bool>> table{
        {testing::root_on_v2(), NetworkMode::none, true},
        {testing::root_on_v2(), NetworkMode::host, true},
        {testing::bare_user(), NetworkMode::none, true},
        {testing::bare_user(), NetworkMode::host, false},
    };
    for (const auto& [host, network, there] : table) {
        Planning world{.host = host};
        world.request.network = network;
        const ExecutionPlan plan = world.plan();
        EXPECT_EQ(mount_on(plan, "/sys") != nullptr, there);
        EXPECT_EQ(plan.namespaces.network, network == NetworkMode::none);
    }
}

TEST(Mounts, HideWhatTellsOfTheWholeMachine) {
    const ExecutionPlan plan = Planning().plan();
    for (const char* path : {"/proc/kcore", "/proc/keys", "/sys/firmware"})
        EXPECT_THAT(plan.masked_paths, Contains(path));
    for (const char* path : {"/proc/sys", "/proc/sysrq-trigger"}) EXPECT_THAT(plan.readonly_paths, Contains(path));
}

TEST(Volumes, AreBoundWithTheOptionsThatTheHostsMountHas) {
    Planning world;
    world.request.volumes = {{.host = "/srv/a", .guest = "/a"}, {.host = "/srv/b", .guest = "/b", .read_only = false}};
    world.volumes = {{.directory = true, .locked_options = {}},
                     {.directory = false, .locked_options = {"nodev", "noexec"}}};
    const ExecutionPlan plan = world.plan();
    const Mount* const a = mount_on(plan, "/a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->type, "bind");
    EXPECT_EQ(a->source, "/srv/a");
    EXPECT_EQ(a->options, (Words{"rbind", "rro", "nosuid", "nodev"}));
    EXPECT_FALSE(a->onto_file);
    EXPECT_EQ(mount_on(plan, "/b")->options, (Words{"rbind", "rw", "nosuid", "nodev", "noexec"}));
    EXPECT_TRUE(mount_on(plan, "/b")->onto_file);
    EXPECT_TRUE(mount_point_of(plan, "b")->file);
}

TEST(Volumes, AreMountedOuterBeforeInner) {
    Planning world;
    world.request.volumes = {
        {.host = "/1", .guest = "/data/in/ner"}, {.host = "/2", .guest = "/data-2"}, {.host = "/3", .guest = "/data"}};
    world.request.tmpfs = {{.guest = "/data/in"}};
    EXPECT_THAT(destinations(world.plan()),
                ElementsAre("/proc", "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", "/sys", "/data", "/data-2",
                            "/data/in", "/data/in/ner", "/tmp", "/workspace"));
}

TEST(Volumes, TakeThePlaceOfCoraclesOwnScratch) {
    Planning world;
    world.request.volumes = {{.host = "/srv", .guest = "/workspace/"}, {.host = "/shm", .guest = "/dev/shm"}};
    world.request.tmpfs = {{.guest = "/tmp", .size = 1_MiB, .executable = false}};
    const ExecutionPlan plan = world.plan();
    EXPECT_THAT(destinations(plan),
                ElementsAre("/proc", "/dev", "/dev/pts", "/dev/mqueue", "/sys", "/dev/shm", "/tmp", "/workspace"));
    EXPECT_EQ(mount_on(plan, "/workspace")->type, "bind");
    EXPECT_EQ(mount_on(plan, "/dev/shm")->type, "bind");
    EXPECT_EQ(mount_on(plan, "/tmp")->options,
              (Words{"nosuid", "nodev", "noexec", "mode=1777", "size=1048576", "nr_inodes=1024"}));
}

TEST(Volumes, TwoOnOnePlaceAreRefusedInEverySpelling) {
    for (const char* again : {"/data", "/data/", "//data", "/./data/."}) {
        Planning world;
        world.request.volumes = {{.host = "/1", .guest = "/data"}};
        world.request.tmpfs = {{.guest = again}};
        const Error error = world.refusal();
        EXPECT_EQ(error.code, ErrorCode::invalid_request) << again;
        EXPECT_THAT(error.message, HasSubstr("two mounts on '/data'"));
    }
}

TEST(MountPoints, AreThereForEveryMountOutsideDev) {
    Planning world;
    world.request.volumes = {{.host = "/1", .guest = "/deep/data"},
                             {.host = "/2", .guest = "/devices"},
                             {.host = "/3", .guest = "/dev/gpu"}};
    const ExecutionPlan plan = world.plan();
    for (const char* path : {"proc", "sys", "dev", "tmp", "workspace", "deep/data", "devices"}) {
        EXPECT_NE(mount_point_of(plan, path), nullptr) << path;
    }
    for (const MountPoint& point : plan.rootfs.mount_points) EXPECT_THAT(point.path, Not(StartsWith("dev/")));
}

TEST(MountPoints, ScratchAtTheTopIsEverybodysWhateverTheImageHasThere) {
    Planning world;
    world.request.tmpfs = {{.guest = "/var/cache"}};
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(mount_point_of(plan, "tmp")->mode, 01777U);
    EXPECT_TRUE(mount_point_of(plan, "tmp")->on_top);
    EXPECT_EQ(mount_point_of(plan, "var/cache")->mode, 01777U);
    EXPECT_FALSE(mount_point_of(plan, "var/cache")->on_top) << "its parents would hide the image's /var";
    EXPECT_EQ(mount_point_of(plan, "proc")->mode, 0755U);
    EXPECT_TRUE(mount_point_of(plan, "proc")->on_top) << "an image may have a link to the host there";
}

TEST(Rootfs, IsReadOnlyUnlessAskedAndWritesAreBounded) {
    Planning world;
    EXPECT_TRUE(world.plan().rootfs.read_only);
    EXPECT_FALSE(world.plan().rootfs.user_xattr);
    world.request.writable_root = true;
    world.request.limits.memory = 64_MiB;
    EXPECT_FALSE(world.plan().rootfs.read_only);
    EXPECT_EQ(world.plan().rootfs.upper_size, 32_MiB);
    world.host = testing::user_with_delegation();
    EXPECT_TRUE(world.plan().rootfs.user_xattr);
}

TEST(GeneratedFiles, NameTheHostAndResolveOnlyWithTheHostsNetwork) {
    Planning world;
    EXPECT_EQ(generated_file(world.plan(), "etc/hostname")->content, "sandbox\n");
    EXPECT_THAT(generated_file(world.plan(), "etc/hosts")->content, HasSubstr("127.0.0.1 localhost sandbox\n"));
    EXPECT_EQ(generated_file(world.plan(), "etc/resolv.conf")->content, "");
    world.request.network = NetworkMode::host;
    EXPECT_EQ(generated_file(world.plan(), "etc/resolv.conf")->content, "nameserver 192.0.2.53\n");
}

TEST(GeneratedFiles, GiveAUserWithoutANameOneAndLeaveOthersAlone) {
    Planning world;
    world.image.passwd = "root:x:0:0::/root:/bin/sh\n";
    world.image.group = "root:x:0:\n";
    EXPECT_EQ(generated_file(world.plan(), "etc/passwd"), nullptr);
    world.request.user = "4711:12";
    const ExecutionPlan plan = world.plan();
    ASSERT_NE(generated_file(plan, "etc/passwd"), nullptr);
    EXPECT_EQ(generated_file(plan, "etc/passwd")->content,
              "root:x:0:0::/root:/bin/sh\nsandbox:x:4711:12:sandbox:/workspace:/bin/sh\n");
    EXPECT_EQ(generated_file(plan, "etc/group")->content, "root:x:0:\nsandbox:x:12:\n");
}

TEST(MakePlan, IsTheSameForTheSameInput) {
    const Planning world;
    const ExecutionPlan one = world.plan();
    const ExecutionPlan two = world.plan();
    EXPECT_EQ(destinations(one), destinations(two));
    EXPECT_EQ(one.process.env, two.process.env);
    EXPECT_EQ(one.hostname, "sandbox");
}

TEST(MakePlan, ChecksTheRequestFirst) {
    Planning world;
    world.request.limits.pids = 0;
    world.host.runc.reset();
    EXPECT_THAT(world.refusal().message, StartsWith("--pids 0"));
}

TEST(Mounts, ScratchSpaceIsAsLargeAsItWasAskedFor) {
    Planning world;
    world.request.limits.storage = 8_MiB;
    world.request.limits.shm = 1_MiB;
    world.request.writable_root = true;
    world.request.tmpfs = {{.guest = "/cache", .size = 2_MiB, .inodes = 7}};
    const ExecutionPlan plan = world.plan();
    EXPECT_THAT(mount_on(plan, "/workspace")->options, Contains("size=8388608"));
    EXPECT_THAT(mount_on(plan, "/dev/shm")->options, Contains("size=1048576"));
    EXPECT_THAT(mount_on(plan, "/cache")->options, Contains("nr_inodes=7"));
    EXPECT_EQ(plan.rootfs.upper_size, 8_MiB);
}

TEST(Mounts, StorageThatMemoryCannotHoldLiesOnTheDisk) {
    Planning world;
    world.request.limits.memory = 64_MiB;
    world.request.limits.storage = 64_MiB;
    EXPECT_FALSE(world.plan().rootfs.scratch_on_disk);
    EXPECT_EQ(mount_on(world.plan(), "/workspace")->type, "tmpfs");
    world.request.limits.storage = 65_MiB;
    PlanInput input = world.input();
    input.scratch_options = {"noexec"};
    const ExecutionPlan plan = test::must(make_plan(input));
    EXPECT_TRUE(plan.rootfs.scratch_on_disk);
    const Mount* const mount = mount_on(plan, "/workspace");
    EXPECT_TRUE(mount->on_scratch);
    EXPECT_EQ(mount->type, "bind");
    EXPECT_THAT(mount->options, ::testing::IsSupersetOf({"rw", "nosuid", "nodev", "noexec"}));
    world.request.volumes = {{.host = "/srv", .guest = "/workspace"}};
    EXPECT_FALSE(world.plan().rootfs.scratch_on_disk) << "nothing would be written to it";
    world.request.writable_root = true;
    EXPECT_TRUE(world.plan().rootfs.scratch_on_disk);
}

}  // namespace
}  // namespace coracle::plan

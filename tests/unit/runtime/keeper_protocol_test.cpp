// What coracle and the keeper say to each other arrives as it was said, and half a message is none.
#include "runtime/keeper_protocol.hpp"

#include <gtest/gtest.h>

namespace coracle::runtime {
namespace {

KeeperJob job() {
    KeeperJob made;
    made.ids = KeeperIds::mapped;
    made.outer_uid = 1000;
    made.outer_gid = 1001;
    made.stage = "/runs/r1/stage";
    made.rootfs.overlay = false;
    made.rootfs.lowers = {"/top", "/bottom"};
    made.rootfs.user_xattr = true;
    made.rootfs.read_only = false;
    made.rootfs.upper_bytes = 1ULL << 40U;
    made.rootfs.scratch = "/store/tmp/a";
    made.rootfs.mount_points = {{.path = "tmp", .mode = 01777, .file = false, .on_top = true},
                                {.path = "f", .mode = 0600, .file = true}};
    made.rootfs.generated = {{.path = "etc/hosts", .content = std::string("a\0b", 3), .mode = 0755},
                             {.path = "x", .content = {}}};
    made.rootfs.links = {{.path = "bin", .target = "usr/bin"}};
    made.cgroup.v2_directory = "/sys/fs/cgroup/coracle-r1";
    made.cgroup.v1_tasks = {"/a/tasks", "/b/tasks"};
    made.cgroup.view = "/sys/fs/cgroup";
    made.runtime_argv = {"/usr/sbin/runc", "run", ""};
    return made;
}

KeeperFailed failed() {
    return {.error = {.code = ErrorCode::unsupported,
                      .message = "mount",
                      .hint = "fix",
                      .stage = Stage::rootfs,
                      .os_errno = 22},
            .runtime_log = "{}\n",
            .runtime_stderr = "oops"};
}

template <class Read>
void expect_only_whole(const std::string& bytes, Read read) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read(std::string_view(bytes).substr(0, size)).has_value()) << size << " of " << bytes.size();
    }
    EXPECT_TRUE(read(bytes).has_value());
}

TEST(KeeperProtocol, AJobArrivesWithItsIdsCgroupAndCommand) {
    const auto read = unpack_keeper_job(pack(job()));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->ids, KeeperIds::mapped);
    EXPECT_EQ(read->outer_uid, 1000U);
    EXPECT_EQ(read->outer_gid, 1001U);
    EXPECT_EQ(read->stage, "/runs/r1/stage");
    EXPECT_EQ(read->cgroup.v2_directory, job().cgroup.v2_directory);
    EXPECT_EQ(read->cgroup.v1_tasks, job().cgroup.v1_tasks);
    EXPECT_EQ(read->cgroup.view, "/sys/fs/cgroup");
    EXPECT_EQ(read->runtime_argv, job().runtime_argv);
}

TEST(KeeperProtocol, AJobArrivesWithItsRootFileSystem) {
    const auto read = unpack_keeper_job(pack(job()));
    ASSERT_TRUE(read);
    const KeeperRootfs& rootfs = read->rootfs;
    ASSERT_EQ(rootfs.links.size(), 1U);
    EXPECT_EQ(rootfs.links[0].path, "bin");
    EXPECT_EQ(rootfs.links[0].target, "usr/bin");
    EXPECT_FALSE(rootfs.overlay);
    EXPECT_EQ(rootfs.lowers, job().rootfs.lowers);
    EXPECT_TRUE(rootfs.user_xattr);
    EXPECT_FALSE(rootfs.read_only);
    EXPECT_EQ(rootfs.upper_bytes, 1ULL << 40U);
    EXPECT_EQ(rootfs.scratch, "/store/tmp/a");
    ASSERT_EQ(rootfs.mount_points.size(), 2U);
    EXPECT_EQ(rootfs.mount_points[0].path, "tmp");
    EXPECT_EQ(rootfs.mount_points[0].mode, 01777U);
    EXPECT_FALSE(rootfs.mount_points[0].file);
    EXPECT_TRUE(rootfs.mount_points[0].on_top);
    EXPECT_TRUE(rootfs.mount_points[1].file);
    EXPECT_FALSE(rootfs.mount_points[1].on_top);
    ASSERT_EQ(rootfs.generated.size(), 2U);
    EXPECT_EQ(rootfs.generated[0].path, "etc/hosts");
    EXPECT_EQ(rootfs.generated[0].content, std::string("a\0b", 3));
    EXPECT_EQ(rootfs.generated[0].mode, 0755U);
    EXPECT_EQ(rootfs.generated[1].mode, 0644U);
}

TEST(KeeperProtocol, AFailureArrivesWithTheRuntimesWords) {
    const auto read = unpack_keeper_failed(pack(failed()));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->error.code, ErrorCode::unsupported);
    EXPECT_EQ(read->error.message, "mount");
    EXPECT_EQ(read->error.hint, "fix");
    EXPECT_EQ(read->error.stage, Stage::rootfs);
    EXPECT_EQ(read->error.os_errno, 22);
    EXPECT_EQ(read->runtime_log, "{}\n");
    EXPECT_EQ(read->runtime_stderr, "oops");
}

TEST(KeeperProtocol, AFailureOfNoStageIsOneOfTheCreation) {
    EXPECT_EQ(unpack_keeper_failed(pack(KeeperFailed{}))->error.stage, Stage::create);
}

TEST(KeeperProtocol, TimesAndTheEndArrive) {
    const auto created =
        unpack_keeper_created(pack(KeeperCreated{.rootfs_done_ns = 5, .created_ns = 1'000'000'000'000}));
    ASSERT_TRUE(created);
    EXPECT_EQ(created->rootfs_done_ns, 5);
    EXPECT_EQ(created->created_ns, 1'000'000'000'000);
    const auto exited =
        unpack_keeper_exited(pack(KeeperExited{.wait_status = 9, .user_us = 1, .system_us = 2, .max_rss = 3}));
    ASSERT_TRUE(exited);
    EXPECT_EQ(exited->wait_status, 9);
    EXPECT_EQ(exited->user_us, 1);
    EXPECT_EQ(exited->system_us, 2);
    EXPECT_EQ(exited->max_rss, 3U);
}

TEST(KeeperProtocol, HalfAMessageIsNone) {
    expect_only_whole(pack(job()), unpack_keeper_job);
    expect_only_whole(pack(failed()), unpack_keeper_failed);
    expect_only_whole(pack(KeeperCreated{}), unpack_keeper_created);
    expect_only_whole(pack(KeeperExited{}), unpack_keeper_exited);
    expect_only_whole(pack(KeeperOverflow{}), unpack_keeper_overflow);
    const auto overflow = unpack_keeper_overflow(pack(KeeperOverflow{.bytes = 5, .entries = 6}));
    ASSERT_TRUE(overflow);
    EXPECT_EQ(overflow->bytes, 5U);
    EXPECT_EQ(overflow->entries, 6U);
}

TEST(KeeperProtocol, OneKindIsNotTakenForAnother) {
    EXPECT_FALSE(unpack_keeper_job(pack(failed())));
    EXPECT_FALSE(unpack_keeper_failed(pack(job())));
    EXPECT_FALSE(unpack_keeper_created(pack(KeeperExited{})));
    EXPECT_FALSE(unpack_keeper_exited(pack(KeeperCreated{})));
}

TEST(StagePaths, LieBelowTheStageAndDiffer) {
    const StagePaths paths = stage_paths("/s");
    EXPECT_EQ(paths.root, "/s/root");
    EXPECT_EQ(paths.state, "/s/state");
    EXPECT_EQ(paths.pid_file, "/s/init.pid");
    EXPECT_EQ(paths.log, "/s/runtime.log");
    EXPECT_EQ(paths.stderr_file, "/s/runtime.stderr");
}

}  // namespace
}  // namespace coracle::runtime

// The image `host` shows programs and what they need to run, and nothing of the host's users.
#include "plan/host_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::HasSubstr;
using testing::mount_on;
using ::testing::Not;
using testing::Planning;

Planning host_run(host::HostFacts host = testing::root_on_v2()) {
    Planning world;
    world.host = std::move(host);
    world.image = host_image_facts(
        world.host, {{.path = "/usr", .kind = HostPlace::Kind::directory, .target = {}, .locked_options = {"noexec"}},
                     {.path = "/bin", .kind = HostPlace::Kind::link, .target = "usr/bin", .locked_options = {}},
                     {.path = "/etc/services", .kind = HostPlace::Kind::file, .target = {}, .locked_options = {}}});
    return world;
}

TEST(HostImage, ShowsNothingOfTheUsersOrOfRoots) {
    for (const std::string path : host_image_paths()) {
        for (const char* secret : {"/home", "/root", "/var", "/etc/shadow", "/etc/gshadow", "/etc/ssl/private",
                                   "/etc/ssh", "/etc/passwd", "/proc", "/run", "/opt", "/srv", "/boot"}) {
            EXPECT_FALSE((path + "/").starts_with(std::string(secret) + "/")) << path;
            EXPECT_FALSE((std::string(secret) + "/").starts_with(path + "/")) << path << " shows " << secret;
        }
    }
}

TEST(HostImage, IsBoundReadOnlyWithoutSetuid) {
    const auto plan = host_run().plan();
    const Mount* usr = mount_on(plan, "/usr");
    ASSERT_NE(usr, nullptr);
    EXPECT_EQ(usr->source, "/usr");
    EXPECT_THAT(usr->options, ::testing::ElementsAre("rbind", "rro", "nosuid", "nodev", "noexec"));
    EXPECT_TRUE(mount_on(plan, "/etc/services")->onto_file);
    EXPECT_EQ(mount_on(plan, "/bin"), nullptr);
    ASSERT_EQ(plan.rootfs.links.size(), 1U);
    EXPECT_EQ(plan.rootfs.links[0].path, "bin");
    EXPECT_EQ(plan.rootfs.links[0].target, "usr/bin");
}

TEST(HostImage, OfRootRunsAsNobodyUnlessTheCallerSaysOtherwise) {
    auto world = host_run();
    EXPECT_EQ(world.plan().process.user.uid, 65534U);
    world.request.user = "0";
    EXPECT_EQ(world.plan().process.user.uid, 0U);
    EXPECT_EQ(host_run(testing::bare_user()).plan().process.user.uid, 0U);  // which is the caller outside
}

TEST(HostImage, KnowsRootNobodyAndTheRunsUser) {
    auto world = host_run();
    world.request.user = "1234:1234";
    const auto plan = world.plan();
    const std::string passwd = testing::generated_file(plan, "etc/passwd")->content;
    EXPECT_THAT(passwd, HasSubstr("root:x:0:0:"));
    EXPECT_THAT(passwd, HasSubstr("nobody:x:65534:"));
    EXPECT_THAT(passwd, HasSubstr(":1234:1234:"));
    EXPECT_NE(testing::generated_file(plan, "etc/group"), nullptr);
}

TEST(HostImage, LeavesAPlaceToTheCallersVolume) {
    auto world = host_run();
    world.request.volumes = {{.host = "/data", .guest = "/etc/services", .read_only = true}};
    world.volumes = {{.directory = false, .locked_options = {}}};
    EXPECT_EQ(mount_on(world.plan(), "/etc/services")->source, "/data");
}

TEST(RootfsKind, IsFlatWhereOverlayfsCannotBeMounted) {
    Planning world;
    EXPECT_EQ(world.plan().rootfs.kind, RootfsKind::overlay);
    world.host.user_overlay = false;
    EXPECT_EQ(world.plan().rootfs.kind, RootfsKind::overlay);  // root needs no user overlay
    world.host.overlay = false;
    EXPECT_EQ(world.plan().rootfs.kind, RootfsKind::flat);
    world.host = testing::bare_user();
    world.host.user_overlay = false;
    EXPECT_EQ(world.plan().rootfs.kind, RootfsKind::flat);
}

TEST(RootfsKind, FlatCannotBeWritableAndSaysSo) {
    Planning world;
    world.host.overlay = false;
    world.request.writable_root = true;
    const Error error = world.refusal();
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("--writable"));
    EXPECT_THAT(error.hint, HasSubstr("modprobe overlay"));
}

}  // namespace
}  // namespace coracle::plan

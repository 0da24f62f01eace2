// Ids come from where the host has them, and a user for whom there is no id is refused or replaced with a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planning;

std::string ids(const Identity& user) { return std::to_string(user.uid) + ":" + std::to_string(user.gid); }

TEST(IdMapping, RootNeedsNone) {
    const ExecutionPlan plan = Planning().plan();
    EXPECT_EQ(plan.id_mapping, IdMapping::none);
    EXPECT_EQ(plan.id_maps, base::IdMaps{});
    EXPECT_EQ(plan.ownership, Ownership::root);
}

TEST(IdMapping, SubordinateIdsFollowTheCaller) {
    Planning world{.host = testing::user_with_delegation()};
    world.host.gid = 1001;
    world.host.subuids.push_back({.start = 500000, .count = 10});
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(plan.id_mapping, IdMapping::subids);
    EXPECT_EQ(plan.ownership, Ownership::subids);
    EXPECT_EQ(plan.id_maps.uids, (std::vector<base::IdRange>{{0, 1000, 1}, {1, 100000, 65536}, {65537, 500000, 10}}));
    EXPECT_EQ(plan.id_maps.gids, (std::vector<base::IdRange>{{0, 1001, 1}, {1, 100000, 65536}}));
}

TEST(IdMapping, WithoutAnyPartOfThemThereIsOneId) {
    for (int missing = 0; missing < 3; ++missing) {
        Planning world{.host = testing::user_with_delegation()};
        if (missing == 0) world.host.subuids.clear();
        if (missing == 1) world.host.subgids.clear();
        if (missing == 2) world.host.newuidmap.reset();
        const ExecutionPlan plan = world.plan();
        EXPECT_EQ(plan.id_mapping, IdMapping::single) << missing;
        EXPECT_EQ(plan.ownership, Ownership::single) << missing;
        EXPECT_EQ(plan.id_maps.uids, (std::vector<base::IdRange>{{0, 1000, 1}})) << missing;
        EXPECT_EQ(plan.id_maps.gids, (std::vector<base::IdRange>{{0, 1000, 1}})) << missing;
    }
}

TEST(User, IsTheCallersBeforeTheImages) {
    Planning world;
    world.image.config.user = "1000:1000";
    EXPECT_EQ(ids(world.plan().process.user), "1000:1000");
    world.request.user = "7:8";
    EXPECT_EQ(ids(world.plan().process.user), "7:8");
    world.request.user = "nobody";
    EXPECT_EQ(world.refusal().code, ErrorCode::not_found);
}

TEST(User, OfTheImageThatHasNoIdHereIsRootWithAWarning) {
    Planning world{.host = testing::bare_user()};
    world.image.config.user = "1000:1000";
    const ExecutionPlan plan = world.plan();
    EXPECT_EQ(ids(plan.process.user), "0:0");
    ASSERT_EQ(plan.warnings.size(), 1U);
    EXPECT_THAT(plan.warnings[0], HasSubstr("'1000:1000' (1000:1000)"));
    EXPECT_THAT(plan.warnings[0], HasSubstr("/etc/subuid"));
}

TEST(User, OfTheCallerThatHasNoIdHereIsRefusedWithTheFix) {
    Planning world{.host = testing::bare_user()};
    world.request.user = "1000";
    const Error error = world.refusal();
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("user '1000' (1000:0)"));
    EXPECT_THAT(error.hint, HasSubstr("/etc/subuid"));
}

TEST(User, IsMappedUpToTheLastSubordinateId) {
    Planning world{.host = testing::user_with_delegation()};
    world.request.user = "65536:65536";
    EXPECT_EQ(ids(world.plan().process.user), "65536:65536");
    for (const char* beyond : {"65537:0", "0:65537"}) {
        world.request.user = beyond;
        EXPECT_EQ(world.refusal().code, ErrorCode::unsupported) << beyond;
    }
}

TEST(User, LosesTheGroupsThatHaveNoIdHere) {
    Planning world{.host = testing::user_with_delegation()};
    world.image.passwd = "app:x:1000:1000::/:/bin/sh\n";
    world.image.group = "near:x:50:app\nfar:x:70000:app\n";
    world.image.config.user = "app";
    EXPECT_THAT(world.plan().process.user.additional_gids, ElementsAre(50));
    world.host = testing::root_on_v2();
    EXPECT_THAT(world.plan().process.user.additional_gids, ElementsAre(50, 70000));
    EXPECT_THAT(world.plan().warnings, IsEmpty());
}

TEST(Runtime, IsTheOneThatWasAskedFor) {
    const std::vector<std::tuple<std::optional<std::string>, RuntimeKind, const char*>> table{
        {std::nullopt, RuntimeKind::runc, "/usr/sbin/runc"},
        {"runc", RuntimeKind::runc, "/usr/sbin/runc"},
        {"crun", RuntimeKind::crun, "/usr/bin/crun"},
        {"auto", RuntimeKind::crun, "/usr/bin/crun"},
        {"/opt/crun-1.28", RuntimeKind::crun, "/opt/crun-1.28"},
        {"/opt/crun/bin/runc", RuntimeKind::runc, "/opt/crun/bin/runc"},
        {"/opt/youki", RuntimeKind::other, "/opt/youki"},
    };
    for (const auto& [asked, kind, path] : table) {
        Planning world{.host = testing::root_on_v2()};
        world.request.runtime = asked;
        const Runtime runtime = world.plan().runtime;
        EXPECT_EQ(runtime.kind, kind) << path;
        EXPECT_EQ(runtime.path, path);
    }
}

TEST(Runtime, AutoTakesWhatIsThere) {
    Planning world;
    world.request.runtime = "auto";
    world.host.crun.reset();
    EXPECT_EQ(world.plan().runtime.kind, RuntimeKind::runc);
}

TEST(Runtime, ThatIsMissingIsNamedWithTheWayToGetIt) {
    for (const std::string name : {"runc", "crun", "auto"}) {
        Planning world;
        world.request.runtime = name;
        world.host.runc.reset();
        world.host.crun.reset();
        const Error error = world.refusal();
        EXPECT_EQ(error.code, ErrorCode::not_found);
        EXPECT_THAT(error.message, HasSubstr(name == "crun" ? "'crun'" : "'runc'"));
        EXPECT_THAT(error.hint, HasSubstr("apt-get install"));
    }
}

TEST(Runtime, AWordThatIsNoRuntimeIsRefused) {
    for (const char* word : {"youki", "bin/runc", ""}) {
        Planning world;
        world.request.runtime = word;
        const Error error = world.refusal();
        EXPECT_EQ(error.code, ErrorCode::invalid_request) << word;
        EXPECT_THAT(error.message, HasSubstr("--runtime"));
        EXPECT_THAT(error.hint, HasSubstr("runc, crun, auto"));
    }
}

}  // namespace
}  // namespace coracle::plan

// What runs, as whom, where and with which environment is Docker's combination of image and request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/concerns.hpp"
#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::ElementsAre;
using testing::env_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planning;

using Words = std::vector<std::string>;

struct ArgsRow {
    Words image_entrypoint, image_cmd;
    std::optional<Words> entrypoint;
    Words command;
    Words args;
};

TEST(Args, CombineImageAndRequestAsDockerDoes) {
    const std::vector<ArgsRow> table{
        {{}, {"sh"}, {}, {}, {"sh"}},
        {{}, {"sh"}, {}, {"ls", "-l"}, {"ls", "-l"}},
        {{"python"}, {"app.py"}, {}, {}, {"python", "app.py"}},
        {{"python"}, {"app.py"}, {}, {"-c", "1"}, {"python", "-c", "1"}},
        {{"python"}, {"app.py"}, Words{"sh"}, {}, {"sh"}},
        {{"python"}, {"app.py"}, Words{"sh"}, {"-c", "1"}, {"sh", "-c", "1"}},
        {{"python"}, {"app.py"}, Words{}, {"ls"}, {"ls"}},
        {{"tini", "--"}, {}, {}, {"x", ""}, {"tini", "--", "x", ""}},
    };
    for (const ArgsRow& row : table) {
        Planning world;
        world.image.config.entrypoint = row.image_entrypoint;
        world.image.config.cmd = row.image_cmd;
        world.request.entrypoint = row.entrypoint;
        world.request.command = row.command;
        EXPECT_EQ(world.plan().process.args, row.args) << ::testing::PrintToString(row.args);
    }
}

TEST(Args, NothingToRunIsAnErrorThatSaysHowToSayIt) {
    for (const Words& command : {Words{}, Words{""}}) {
        Planning world;
        world.request.command = command;
        const Error error = world.refusal();
        EXPECT_EQ(error.code, ErrorCode::invalid_request);
        EXPECT_THAT(error.message, HasSubstr("nothing to run"));
        EXPECT_THAT(error.hint, HasSubstr("coracle run IMAGE -- COMMAND"));
    }
    Planning world;
    world.image.config.cmd = {"sh"};
    world.request.command.clear();
    world.request.entrypoint = Words{};
    EXPECT_EQ(world.refusal().code, ErrorCode::invalid_request) << "an entrypoint of nothing voids CMD as well";
}

TEST(Args, ANulByteCannotBePassed) {
    Planning world;
    world.request.command = {"echo", std::string("a\0b", 3)};
    EXPECT_THAT(world.refusal().message, HasSubstr("NUL"));
}

TEST(Env, ANulByteIsRefusedFromTheCallerAndDroppedFromTheImage) {
    Planning world;
    world.request.env = {{.name = "A", .value = std::string("x\0y", 3)}};
    EXPECT_THAT(world.refusal().message, HasSubstr("NUL"));
    world.request.env.clear();
    world.image.config.env = {std::string("B=x\0y", 5), "C=z"};
    const auto env = world.plan().process.env;
    EXPECT_NE(std::find(env.begin(), env.end(), "C=z"), env.end());
    EXPECT_TRUE(std::none_of(env.begin(), env.end(), [](const std::string& line) { return line.starts_with("B="); }));
}

TEST(Script, IsAFileThatItsInterpreterOrTheCommandRuns) {
    const std::vector<std::tuple<const char*, Words, Words>> table{
        {"echo hi\n", {}, {"/bin/sh", script_path}},
        {"#!/usr/bin/python3\n", {}, {script_path}},
        {"print(1)", {"python3", "-u"}, {"python3", "-u", script_path}},
        {"", {}, {"/bin/sh", script_path}},
    };
    for (const auto& [script, command, args] : table) {
        Planning world;
        world.image.config.entrypoint = {"ignored"};
        world.request.script = script;
        world.request.command = command;
        const ExecutionPlan plan = world.plan();
        EXPECT_EQ(plan.process.args, args) << script;
        EXPECT_EQ(plan.script, script);
        const GeneratedFile* const file = testing::generated_file(plan, "coracle/script");
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(file->content, script);
        EXPECT_EQ(file->mode, 0755U);
    }
    EXPECT_EQ(testing::generated_file(Planning().plan(), "coracle/script"), nullptr);
}

TEST(Environment, TheCallersValuesReplaceTheImagesInTheirPlace) {
    Planning world;
    world.image.config.env = {"A=1", "PATH=/image", "NO_VALUE", "B=2", "A=3"};
    world.request.env = {{"B", "caller=yes"}, {"C", ""}, {"AB", "x"}};
    EXPECT_THAT(world.plan().process.env,
                ElementsAre("A=3", "PATH=/image", "B=caller=yes", "C=", "AB=x", "HOME=/workspace", "HOSTNAME=sandbox"));
}

TEST(Environment, AlwaysHasAPathAndAHome) {
    const ExecutionPlan plan = Planning().plan();
    EXPECT_THAT(env_of(plan, "PATH"), HasSubstr("/usr/bin:/sbin:/bin"));
    EXPECT_EQ(env_of(plan, "HOME"), workspace);
}

TEST(Environment, HomeIsWhereTheProgramMayWrite) {
    Planning world;
    world.image.passwd = "app:x:1000:1000::/home/app:/bin/sh\n";
    world.image.config.user = "app";
    EXPECT_EQ(env_of(world.plan(), "HOME"), workspace);
    world.request.writable_root = true;
    EXPECT_EQ(env_of(world.plan(), "HOME"), "/home/app");
    world.image.config.user = "4711";
    EXPECT_EQ(env_of(world.plan(), "HOME"), "/");
    world.image.config.env = {"HOME=/opt"};
    EXPECT_EQ(env_of(world.plan(), "HOME"), "/opt");
    world.request.env = {{"HOME", "/mine"}};
    EXPECT_EQ(env_of(world.plan(), "HOME"), "/mine");
}

TEST(WorkingDirectory, IsTheCallersOrTheImagesOrTheWorkspace) {
    const std::vector<std::tuple<const char*, std::optional<std::string>, const char*>> table{
        {"", {}, "/workspace"}, {"/app", {}, "/app"}, {"app", {}, "/app"},     {"/app", "/data", "/data"},
        {"/app/", {}, "/app"},  {"/", {}, "/"},       {"/a//b/.", {}, "/a/b"},
    };
    for (const auto& [image, asked, cwd] : table) {
        Planning world;
        world.image.config.working_dir = image;
        world.request.workdir = asked;
        EXPECT_EQ(world.plan().process.cwd, cwd) << image;
    }
}

TEST(WorkingDirectory, OfAHostileImageIsInsideTheSandbox) {
    for (const char* dir : {"/../../etc/x", "../../etc/x", "/a/../../../etc/x", "//../etc/x"}) {
        Planning world;
        world.image.config.working_dir = dir;
        const ExecutionPlan plan = world.plan();
        EXPECT_EQ(plan.process.cwd, "/etc/x") << dir;
        EXPECT_NE(testing::mount_point_of(plan, "etc/x"), nullptr) << dir;
        for (const MountPoint& point : plan.rootfs.mount_points) EXPECT_THAT(point.path, Not(HasSubstr(".."))) << dir;
    }
}

TEST(WorkingDirectory, OfTheImageIsMadeAndTheCallersIsNot) {
    Planning world;
    world.image.config.working_dir = "/app";
    EXPECT_NE(testing::mount_point_of(world.plan(), "app"), nullptr);
    world.request.workdir = "/data";
    EXPECT_EQ(testing::mount_point_of(world.plan(), "data"), nullptr);
    EXPECT_EQ(testing::mount_point_of(world.plan(), "app"), nullptr);
}

TEST(WorkingDirectory, AtTheRootNeedsNoPlaceMadeForIt) {
    Planning world;
    world.image.config.working_dir = "/";
    EXPECT_EQ(testing::mount_point_of(world.plan(), ""), nullptr);
}

TEST(PlannedCapabilities, AreNoneUnlessAskedFor) {
    Planning world;
    EXPECT_THAT(world.plan().process.capabilities, IsEmpty());
    world.request.cap_add = {"net_bind_service", "CAP_CHOWN"};
    EXPECT_THAT(world.plan().process.capabilities, ElementsAre("CAP_CHOWN", "CAP_NET_BIND_SERVICE"));
    world.request.cap_drop = {"chown"};
    EXPECT_THAT(world.plan().process.capabilities, ElementsAre("CAP_NET_BIND_SERVICE"));
    world.request.cap_add = {"ALL"};
    EXPECT_EQ(world.refusal().code, ErrorCode::invalid_request);
}

TEST(Seccomp, IsTheNameThatWasAskedFor) {
    Planning world;
    EXPECT_EQ(world.plan().process.seccomp, "default");
    world.request.seccomp = "unconfined";
    EXPECT_EQ(world.plan().process.seccomp, "unconfined");
}

}  // namespace
}  // namespace coracle::plan

// Flags win over configurations, configurations over defaults, and nothing but root's file over the ceilings.
#include "plan/settle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using namespace std::chrono_literals;
using test::must;
using test::must_fail;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

policy::Config config(const std::string& text) { return must(policy::parse_config(text, "c.yaml")); }

Request request() {
    Request made;
    made.image = "busybox";
    return made;
}

TEST(Settle, WithoutAConfigurationTheRequestStaysAsItIs) {
    const Settled settled = must(settle(request(), {}));
    EXPECT_FALSE(settled.request.limits.memory);
    EXPECT_FALSE(settled.request.network);
    EXPECT_EQ(settled.basis.defaults.memory, 512_MiB);
    EXPECT_THAT(settled.clamped, IsEmpty());
}

TEST(Settle, TheConfigurationFillsWhatTheCallerLeftOpen) {
    const policy::Config said = config(
        "sandbox: {default_image: alpine, memory_limit: 1g, cpu_limit: 2, timeout: 5m, network_mode: host, runtime: "
        "crun, security: {read_only_root: false, seccomp: strict}}");
    Request open;
    const Settled settled = must(settle(open, said));
    EXPECT_EQ(settled.request.image, "alpine");
    EXPECT_EQ(settled.request.limits.memory, 1_GiB);
    EXPECT_EQ(settled.request.limits.cpus, Cpus{2000});
    EXPECT_EQ(settled.request.limits.wall_time, 300s);
    EXPECT_EQ(settled.request.network, NetworkMode::host);
    EXPECT_EQ(settled.request.writable_root, true);
    EXPECT_EQ(settled.request.seccomp, "strict");
    EXPECT_EQ(settled.request.runtime, "crun");

    Request closed = request();
    closed.limits = {.memory = 64_MiB,
                     .cpus = Cpus{500},
                     .pids = {},
                     .wall_time = 1s,
                     .grace = {},
                     .output = {},
                     .open_files = {},
                     .file_size = {}};
    closed.network = NetworkMode::none;
    closed.writable_root = false;
    closed.seccomp = "default";
    closed.runtime = "runc";
    const Request kept = must(settle(closed, said)).request;
    EXPECT_EQ(kept.image, "busybox");
    EXPECT_EQ(kept.limits.memory, 64_MiB);
    EXPECT_EQ(kept.limits.cpus, Cpus{500});
    EXPECT_EQ(kept.limits.wall_time, 1s);
    EXPECT_EQ(kept.network, NetworkMode::none);
    EXPECT_EQ(kept.writable_root, false);
    EXPECT_EQ(kept.seccomp, "default");
    EXPECT_EQ(kept.runtime, "runc");
}

TEST(Settle, NoImageAnywhereIsRefusedWithTheFix) {
    const Error error = must_fail(settle(Request{}, {}));
    EXPECT_EQ(error.code, ErrorCode::invalid_request);
    EXPECT_EQ(error.stage, Stage::request);
    EXPECT_THAT(error.hint, HasSubstr("default_image"));
}

TEST(Settle, AValueThatCannotBeIsToldWithFileLineAndKey) {
    const std::pair<const char*, const char*> table[]{
        {"sandbox:\n  memory_limit: 1k\n", "c.yaml:2: memory_limit: "},
        {"sandbox:\n  cpu_limit: 9000\n", "c.yaml:2: cpu_limit: "},
        {"sandbox:\n  network_mode: bridge\n", "c.yaml:2: network_mode: "},
    };
    for (const auto& [text, words] : table) {
        EXPECT_THAT(must_fail(settle(request(), config(text))).message, ::testing::StartsWith(words));
    }
}

const std::string ceilings = "sandbox:\n  resources:\n    max_memory: 128m\n    max_cpu: 0.5\n    max_storage: 10m\n";

Request greedy() {
    Request asked = request();
    asked.limits.memory = 1_GiB;
    asked.limits.cpus = Cpus{4000};
    asked.tmpfs = {{.guest = "/data", .size = 64_MiB}};
    return asked;
}

TEST(Ceilings, LowerARequestAndTellWhatAndWhere) {
    const Settled settled = must(settle(greedy(), config(ceilings)));
    EXPECT_EQ(settled.request.limits.memory, 128_MiB);
    EXPECT_EQ(settled.request.limits.cpus, Cpus{500});
    EXPECT_EQ(settled.request.tmpfs.at(0).size, 10_MiB);
    ASSERT_EQ(settled.clamped.size(), 3U);
    EXPECT_EQ(settled.clamped[0].limit, "memory");
    EXPECT_EQ(settled.clamped[0].wanted, "1g");
    EXPECT_EQ(settled.clamped[0].granted, "128m");
    EXPECT_EQ(settled.clamped[0].ceiling, "c.yaml:3");
    EXPECT_EQ(settled.clamped[2].limit, "tmpfs /data");
}

TEST(Ceilings, HoldSwapAndScratchSpaceThatWereAskedForAndTellIt) {
    Request asked = request();
    asked.limits.memory_swap = 1_GiB;
    asked.limits.storage = 64_MiB;
    asked.limits.shm = 64_MiB;
    const Settled settled = must(settle(asked, config(ceilings)));
    EXPECT_EQ(settled.request.limits.memory_swap, 128_MiB);
    EXPECT_EQ(settled.request.limits.storage, 10_MiB);
    EXPECT_EQ(settled.request.limits.shm, 10_MiB);
    std::vector<std::string> told;
    for (const Clamped& one : settled.clamped) told.push_back(one.limit);
    EXPECT_THAT(told, ::testing::UnorderedElementsAre("memory_swap", "storage", "shm"));
    must_fail(settle(asked, config(ceilings + "  ceilings: refuse\n")));
}

TEST(Ceilings, HoldConfiguredValuesAsWell) {
    const Settled settled = must(settle(request(), config(ceilings + "  memory_limit: 1g\n")));
    EXPECT_EQ(settled.request.limits.memory, 128_MiB);
    EXPECT_EQ(settled.clamped.size(), 1U);
}

TEST(Ceilings, LowerTheDefaultsWithoutWords) {
    testing::Planning world;
    const Settled settled = must(settle(world.request, config(ceilings)));
    EXPECT_THAT(settled.clamped, IsEmpty());
    const ExecutionPlan plan = must(make_plan(
        {.request = settled.request, .image = world.image, .host = world.host, .volumes = {}, .basis = settled.basis}));
    EXPECT_EQ(plan.limits.memory, 128_MiB);
    EXPECT_EQ(plan.cgroup.memory, 128_MiB);
    EXPECT_EQ(plan.limits.cpus, Cpus{500});
    EXPECT_EQ(plan.rootfs.upper_size, 10_MiB);
    for (const char* place : {"/tmp", "/workspace"}) {
        const Mount* const mount = testing::mount_on(plan, place);
        ASSERT_NE(mount, nullptr);
        EXPECT_THAT(mount->options, ::testing::Contains("size=10485760")) << place;
    }
}

TEST(Ceilings, RefuseWhereTheAdministratorSaysSo) {
    const policy::Config strict = config(ceilings + "  ceilings: refuse\n");
    const Error error = must_fail(settle(greedy(), strict));
    EXPECT_EQ(error.code, ErrorCode::denied);
    EXPECT_EQ(error.stage, Stage::plan);
    EXPECT_THAT(error.message, HasSubstr("memory 1g is above the ceiling of 128m (max_memory in c.yaml:3)"));
    EXPECT_THAT(error.hint, HasSubstr("at most 128m"));
    must(settle(request(), strict));
    Request exact = request();
    exact.limits.memory = 128_MiB;
    must(settle(exact, strict));
}

TEST(DropCapabilities, OfAnyConfigurationIsNotGivenBackByAFlag) {
    Request asked = request();
    asked.cap_add = {"net_bind_service"};
    for (const char* dropped : {"ALL", "CAP_NET_BIND_SERVICE"}) {
        const auto said = config("sandbox:\n  security: {drop_capabilities: [" + std::string(dropped) + "]}\n");
        const Error error = must_fail(settle(asked, said));
        EXPECT_EQ(error.code, ErrorCode::denied);
        EXPECT_THAT(error.message, HasSubstr("--cap-add net_bind_service"));
        EXPECT_THAT(error.message, HasSubstr("c.yaml:2"));
    }
    must(settle(asked, config("sandbox: {security: {drop_capabilities: [KILL]}}")));
}

TEST(LimitSources, NameFlagLineDefaultAndCeiling) {
    Request asked = request();
    asked.limits.memory = 1_GiB;
    asked.limits.pids = 9;
    const Settled settled =
        must(settle(asked, config("sandbox:\n  cpu_limit: 0.5\n  resources: {max_memory: 128m}\n")));
    const auto sources = limit_sources(asked, settled);
    EXPECT_EQ(sources.at("memory"), "ceiling in c.yaml:3");
    EXPECT_EQ(sources.at("cpus"), "c.yaml:2");
    EXPECT_EQ(sources.at("pids"), "--pids");
    EXPECT_EQ(sources.at("wall_time"), "built-in");
}

// Design: a limit from a configuration is as strict as one from a flag.
TEST(ConfiguredLimits, ThatCannotBeEnforcedAreRefusedWithTheirLine) {
    testing::Planning world;
    world.host = testing::bare_user();
    const Settled settled = must(settle(world.request, config("sandbox:\n  memory_limit: 64m\n")));
    const PlanInput input{
        .request = settled.request, .image = world.image, .host = world.host, .volumes = {}, .basis = settled.basis};
    const Error error = must_fail(make_plan(input));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("c.yaml:2: memory 64m cannot be enforced here"));
}

}  // namespace
}  // namespace coracle::plan

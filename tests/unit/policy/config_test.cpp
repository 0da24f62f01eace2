// A configuration file means what it says, and what it cannot mean is refused with file and line.
#include "policy/config.hpp"

#include <gtest/gtest.h>

namespace coracle::policy {
namespace {

using namespace std::chrono_literals;

TEST(Config, TheFileOfExistingUsersWorksUnchanged) {
    const auto config = parse_config(R"(
sandbox:
  default_image: "ubuntu:22.04"
  memory_limit: "1g"
  cpu_limit: "2.0"
  timeout: 300
  network_mode: "none"        # none | bridge | host | egress
  security: {read_only_root: true, no_new_privileges: true, drop_capabilities: ["ALL"]}
  resources: {max_memory: "2g", max_cpu: "4.0", max_storage: "10g"}   # ceilings
)",
                                     "config.yaml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->default_image, "ubuntu:22.04");
    EXPECT_EQ(config->memory, 1_GiB);
    EXPECT_EQ(config->cpus, Cpus{2000});
    EXPECT_EQ(config->wall_time, 300s);
    EXPECT_EQ(config->network, NetworkMode::none);
    EXPECT_EQ(config->read_only_root, true);
    EXPECT_EQ(config->drop_capabilities, std::vector<std::string>{"ALL"});
    EXPECT_EQ(config->ceilings.memory, 2_GiB);
    EXPECT_EQ(config->ceilings.cpus, Cpus{4000});
    EXPECT_EQ(config->ceilings.storage, 10_GiB);
    EXPECT_EQ(config->ceilings.above, Ceilings::Above::clamp);
}

TEST(Config, WhatIsNotSaidIsAbsent) {
    for (const char* text : {"", "# nothing\n", "sandbox:\n", "sandbox: {}\n"}) {
        const auto config = parse_config(text, "c.yaml");
        ASSERT_TRUE(config) << text;
        EXPECT_FALSE(config->memory);
        EXPECT_FALSE(config->ceilings.memory);
        EXPECT_FALSE(config->read_only_root);
    }
}

struct Refusal {
    std::string text;
    std::string message;
    std::string hint;
};

TEST(Config, RefusesWithFileLineAndKey) {
    const std::vector<Refusal> refusals{
        {"sandbox:\n  memory_limit: 512x\n", "c.yaml:2: memory_limit: '512x' is not a size", "write it like"},
        {"sandbox:\n  memroy_limit: 1g\n", "c.yaml:2: memroy_limit: unknown key", "'memory_limit'"},
        {"snadbox:\n  timeout: 1\n", "c.yaml:1: snadbox: unknown key", "'sandbox'"},
        {"sandbox:\n  security:\n    read_only_root: maybe\n", "c.yaml:3: read_only_root: 'maybe'", ""},
        {"sandbox:\n  security:\n    no_new_privileges: false\n", "c.yaml:3: no_new_privileges", "remove"},
        {"sandbox:\n  security: {drop_capabilities: [KILLL]}\n", "c.yaml:2: drop_capabilities: 'KILLL'", "'CAP_KILL'"},
        {"sandbox:\n  security: {drop_capabilities: ALL}\n", "not a list", ""},
        {"sandbox:\n  network_mode: hots\n", "c.yaml:2: network_mode: 'hots'", "'host'"},
        {"images:\n  max_entires: 5\n", "c.yaml:2: max_entires: unknown key", "'max_entries'"},
        {"images:\n  max_layers: 0\n", "c.yaml:2: max_layers: '0'", "whole number"},
        {"images:\n  max_layers: 5k\n", "c.yaml:2: max_layers: '5k'", "whole number"},
        {"images:\n  max_unpacked: lots\n", "c.yaml:2: max_unpacked: 'lots' is not a size", "write it like"},
        {"images:\n  parallel: 65\n", "c.yaml:2: parallel: '65'", "at most 64"},
        {"images: [1]\n", "c.yaml:1: images: not a group", ""},
        {"registries:\n  serach: [a.test]\n", "c.yaml:2: serach: unknown key", "'search'"},
        {"registries:\n  search: docker.io\n", "c.yaml:2: search: not a list", "[one, two]"},
        {"registries:\n  plain_http: [busybox]\n", "c.yaml:2: plain_http: 'busybox' is not a registry", "HOST"},
        {"registries:\n  mirrors: {docker.io: ['http://m.test']}\n", "c.yaml:2: mirrors: docker.io: 'http://m.test'",
         ""},
        {"registries:\n  mirrors: [a.test]\n", "c.yaml:2: mirrors: not a group", ""},
        {"registries:\n  certs_dir: certs\n", "c.yaml:2: certs_dir: 'certs' is not an absolute path", ""},
        {"sandbox:\n  timeout: [1]\n", "c.yaml:2: timeout", ""},
        {"sandbox:\n  timeout:\n", "c.yaml:2: timeout", ""},
        {"sandbox:\n  ceilings: ignore\n", "c.yaml:2: ceilings: 'ignore'", ""},
        {"sandbox:\n  timeout: 1\n  timeout: 2\n", "c.yaml:3: 'timeout' is there twice", ""},
        {"sandbox:\n  - a\n", "c.yaml:1: sandbox: not a group", ""},
        {"sandbox: {\n", "c.yaml:", ""},
        {"- 1\n", "c.yaml: not a group", ""},
        {"? [a]\n: 1\n", "c.yaml:1: a key that is not a word", ""},
    };
    for (const Refusal& refusal : refusals) {
        const auto config = parse_config(refusal.text, "c.yaml");
        ASSERT_FALSE(config) << refusal.text;
        EXPECT_EQ(config.error().code, ErrorCode::invalid_request);
        EXPECT_NE(config.error().message.find(refusal.message), std::string::npos) << config.error().message;
        EXPECT_NE(config.error().hint.find(refusal.hint), std::string::npos) << config.error().hint;
    }
}

TEST(Config, BoundsOnImagesAndSettingsOfRegistriesAreRead) {
    const auto config = parse_config(R"(
images: {max_entries: 1000, max_unpacked: 2g, parallel: 4}
registries:
  search: [docker.io, "r.test:5000/team"]
  plain_http: ["localhost:5000"]
  blocked: [bad.test]
  mirrors: {docker.io: [m1.test, "m2.test/hub"]}
  certs_dir: /srv/certs
)",
                                     "c.yaml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->images.at("max_entries"), 1000U);
    EXPECT_EQ(config->images.at("max_unpacked"), (2_GiB).count);
    EXPECT_EQ(config->images.at("parallel"), 4U);
    EXPECT_EQ(config->registries.search, (std::vector<std::string>{"docker.io", "r.test:5000/team"}));
    EXPECT_EQ(config->registries.plain_http, std::vector<std::string>{"localhost:5000"});
    EXPECT_EQ(config->registries.mirrors.at("docker.io"), (std::vector<std::string>{"m1.test", "m2.test/hub"}));
    EXPECT_EQ(config->registries.certs_dir, "/srv/certs");
}

TEST(Config, RemembersTheLineOfEachKey) {
    const auto config = parse_config("sandbox:\n  memory_limit: 1g\n  resources: {max_memory: 2g}\n", "c.yaml").value();
    EXPECT_EQ(config.sources.at("memory_limit"), "c.yaml:2");
    EXPECT_EQ(config.sources.at("max_memory"), "c.yaml:3");
}

TEST(Config, AFileOverAnotherReplacesWhatItSaysAndBlocksMore) {
    const Config lower = parse_config(
                             "images: {max_layers: 5, max_entries: 9}\n"
                             "registries: {search: [a.test], blocked: [b.test], mirrors: {a.test: [m.test], c.test: "
                             "[n.test]}}\nsandbox: {memory_limit: 1g, resources: {max_memory: 2g}}",
                             "etc")
                             .value();
    const Config upper = parse_config(
                             "images: {max_layers: 7}\n"
                             "registries: {search: [d.test], blocked: [e.test], mirrors: {a.test: [o.test]}}\n"
                             "sandbox: {memory_limit: 1g, resources: {max_memory: 9g}}",
                             "home")
                             .value();
    EXPECT_TRUE(sets_ceilings(upper));
    EXPECT_FALSE(sets_ceilings(parse_config("sandbox: {memory_limit: 1g}", "c").value()));
    const Config both = overlaid(lower, upper);
    EXPECT_EQ(both.images.at("max_layers"), 7U);
    EXPECT_EQ(both.images.at("max_entries"), 9U);
    EXPECT_EQ(both.registries.search, std::vector<std::string>{"d.test"});
    EXPECT_EQ(both.registries.blocked, (std::vector<std::string>{"b.test", "e.test"}));
    EXPECT_EQ(both.registries.mirrors.at("a.test"), std::vector<std::string>{"o.test"});
    EXPECT_EQ(both.registries.mirrors.at("c.test"), std::vector<std::string>{"n.test"});
    EXPECT_EQ(both.sources.at("memory_limit"), "home:3");
    EXPECT_EQ(both.sources.at("max_memory"), "etc:3");
}

TEST(Config, ATextThatGrowsOrNestsWithoutEndIsRefused) {
    std::string laughs = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 30; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
    }
    EXPECT_FALSE(parse_config(laughs, "c.yaml"));
    EXPECT_FALSE(parse_config("sandbox: " + std::string(100, '['), "c.yaml"));
    EXPECT_FALSE(parse_config(std::string(100'000, '['), "c.yaml"));
    EXPECT_FALSE(parse_config(std::string(2'000'000, '#'), "c.yaml"));
}

TEST(Config, AFileOverAnotherKeepsCeilingsAndAddsDrops) {
    const Config lower = parse_config(
                             "sandbox: {memory_limit: 1g, timeout: 5, resources: {max_memory: 2g}, "
                             "security: {drop_capabilities: [kill]}}",
                             "etc")
                             .value();
    const Config upper = parse_config(
                             "sandbox: {memory_limit: 2g, resources: {max_memory: 99g}, "
                             "security: {drop_capabilities: [chown]}}",
                             "home")
                             .value();
    const Config both = overlaid(lower, upper);
    EXPECT_EQ(both.memory, 2_GiB);
    EXPECT_EQ(both.wall_time, 5s);
    EXPECT_EQ(both.ceilings.memory, 2_GiB);
    EXPECT_EQ(both.drop_capabilities, (std::vector<std::string>{"CAP_KILL", "CAP_CHOWN"}));
}

}  // namespace
}  // namespace coracle::policy

// A registry is asked, mirrored or left alone as the configuration says, by host and by path.
#include "policy/registry_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coracle::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RegistrySettings, BlocksAHostOrAPartOfIt) {
    const RegistrySettings settings{
        .search = {}, .plain_http = {}, .blocked = {"bad.test", "r.test/team"}, .mirrors = {}, .certs_dir = {}};
    EXPECT_TRUE(settings.is_blocked("bad.test", "any/thing"));
    EXPECT_TRUE(settings.is_blocked("r.test", "team/app"));
    EXPECT_FALSE(settings.is_blocked("r.test", "teamwork"));
    EXPECT_FALSE(settings.is_blocked("r.test", "app"));
    EXPECT_FALSE(settings.is_blocked("bad.test:5000", "x"));
}

TEST(RegistrySettings, PlainHttpIsForTheNamedHostAlone) {
    const RegistrySettings settings{
        .search = {}, .plain_http = {"r.test:5000"}, .blocked = {}, .mirrors = {}, .certs_dir = {}};
    EXPECT_TRUE(settings.is_plain_http("r.test:5000"));
    EXPECT_FALSE(settings.is_plain_http("r.test"));
    EXPECT_FALSE(settings.is_plain_http("r.test:50001"));
}

TEST(RegistrySettings, MirrorsAreThoseOfTheLongestKey) {
    const RegistrySettings settings{.search = {},
                                    .plain_http = {},
                                    .blocked = {},
                                    .mirrors = {{"docker.io", {"m.test"}}, {"docker.io/team", {"a.test", "b.test"}}},
                                    .certs_dir = {}};
    EXPECT_THAT(settings.mirrors_of("docker.io", "library/busybox"), ElementsAre("m.test"));
    EXPECT_THAT(settings.mirrors_of("docker.io", "team/app"), ElementsAre("a.test", "b.test"));
    EXPECT_THAT(settings.mirrors_of("r.test", "team/app"), IsEmpty());
}

}  // namespace
}  // namespace coracle::policy

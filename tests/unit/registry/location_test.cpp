// From names to registries, mirrors and addresses.
#include "registry/location.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coracle::registry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

policy::RegistrySettings search(std::vector<std::string> hosts) {
    policy::RegistrySettings settings;
    settings.search = std::move(hosts);
    return settings;
}

policy::RegistrySettings hub_mirrors(std::vector<std::string> places) {
    policy::RegistrySettings settings;
    settings.mirrors["docker.io"] = std::move(places);
    return settings;
}

oci::Reference reference(std::string_view text) { return oci::parse_reference(text).value(); }

Location only(std::string_view text, const policy::RegistrySettings& settings = {}) {
    const auto found = locate(reference(text), settings);
    return found && found.value().size() == 1 ? found.value().front() : Location{};
}

TEST(Location, TheHubHasALibraryForNamesOfOneWord) {
    EXPECT_EQ(only("docker.io/busybox"), (Location{"docker.io", "library/busybox"}));
    EXPECT_EQ(only("docker.io/library/busybox"), (Location{"docker.io", "library/busybox"}));
    EXPECT_EQ(only("docker.io/team/app"), (Location{"docker.io", "team/app"}));
    EXPECT_EQ(only("index.docker.io/busybox"), (Location{"docker.io", "library/busybox"}));
    EXPECT_EQ(only("localhost:5000/app"), (Location{"localhost:5000", "app"}));
}

TEST(Location, AShortNameIsLookedForWhereTheSettingsSay) {
    const auto found = locate(reference("team/app:1"), search({"a.example", "docker.io"}));
    ASSERT_TRUE(found);
    EXPECT_THAT(found.value(), ElementsAre(Location{"a.example", "team/app"}, Location{"docker.io", "team/app"}));
    EXPECT_EQ(name_in_store(reference("team/app:1"), found.value()[0]), "a.example/team/app:1");
}

TEST(Location, AShortNameWithoutSearchIsRefusedWithTheFix) {
    const auto found = locate(reference("busybox"), {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::invalid_request);
    EXPECT_THAT(found.error().hint, HasSubstr("docker.io/busybox"));
}

TEST(Location, ABareDigestNamesNoRegistry) {
    EXPECT_FALSE(locate(reference("sha256:" + std::string(64, 'a')), search({"docker.io"})));
}

TEST(Location, TheNameInTheStoreIsTheNameThatWasWritten) {
    EXPECT_EQ(name_in_store(reference("docker.io/busybox"), {"docker.io", "library/busybox"}),
              "docker.io/busybox:latest");
}

TEST(Location, MirrorsComeFirstAndMayHaveAPath) {
    const auto settings = hub_mirrors({"m.example/hub", "localhost:5000"});
    const auto places = with_mirrors({"docker.io", "library/busybox"}, settings);
    ASSERT_TRUE(places);
    EXPECT_THAT(places.value(),
                ElementsAre(Location{"m.example", "hub/library/busybox"}, Location{"localhost:5000", "library/busybox"},
                            Location{"docker.io", "library/busybox"}));
}

TEST(Location, WhatIsBlockedIsDeniedAndABlockedMirrorLeftOut) {
    auto settings = hub_mirrors({"m.example"});
    settings.blocked = {"bad.example", "m.example"};
    const auto refused = with_mirrors({"bad.example", "app"}, settings);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied);
    EXPECT_EQ(with_mirrors({"docker.io", "library/busybox"}, settings).value().size(), 1U);
}

TEST(Location, TlsUnlessTheSettingsNameTheHost) {
    EXPECT_EQ(repository_url({"docker.io", "library/busybox"}, {}).value().text,
              "https://registry-1.docker.io/v2/library/busybox");
    EXPECT_EQ(repository_url({"localhost:5000", "app"}, {}).value().text, "https://localhost:5000/v2/app");
    policy::RegistrySettings plain;
    plain.plain_http = {"localhost:5000"};
    EXPECT_EQ(repository_url({"localhost:5000", "app"}, plain).value().text, "http://localhost:5000/v2/app");
}

TEST(Location, WithoutARepositoryIsTheRegistryItself) {
    const Location registry{"localhost:5000", ""};
    EXPECT_EQ(repository_url(registry, {}).value().text, "https://localhost:5000/v2/");
    EXPECT_EQ(to_string(registry), "localhost:5000");
    EXPECT_EQ(access_hint(registry).find("coracle login"), std::string::npos);
    policy::RegistrySettings settings;
    EXPECT_TRUE(check_allowed(registry, settings));
    settings.blocked = {"localhost:5000"};
    EXPECT_FALSE(check_allowed(registry, settings));
}

}  // namespace
}  // namespace coracle::registry

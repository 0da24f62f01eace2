// The credentials of a registry are found where podman's and docker's users keep them, and are told to nobody else.
#include "credentials/credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/base64.hpp"
#include "credentials/auth_file.hpp"
#include "support/env_setting.hpp"
#include "support/test_dir.hpp"

namespace coracle::credentials {
namespace {

namespace fs = std::filesystem;
using test::EnvSetting;
using test::must;
using test::must_fail;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string auth(const std::string& pair) { return R"({"auth":")" + base::base64(pair) + R"("})"; }
std::string auths(const std::string& key, const std::string& entry) {
    return R"({"auths":{")" + key + R"(":)" + entry + "}}";
}

class Find : public ::testing::Test {
protected:
    fs::path file(const std::string& text, mode_t mode = 0600) {
        const auto path = dir_.write("auth" + std::to_string(count_++) + ".json", text);
        ::chmod(path.c_str(), mode);
        sources_.files.push_back({.path = path});
        return path;
    }
    std::string user_of(const std::string& host, const std::string& repository = "library/busybox") {
        const auto found = must(find_credentials(sources_, host, repository, warnings_));
        return found ? found->username : "(nobody)";
    }

    test::TestDir dir_;
    Sources sources_;
    std::vector<std::string> warnings_;
    int count_ = 0;
};

TEST_F(Find, APasswordMayHaveColonsAndAnyLetters) {
    file(auths("registry.example:5000", auth("anna:p@ss:w\xC3\xB6rd")));
    const auto found = must(find_credentials(sources_, "registry.example:5000", "app", warnings_));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->username, "anna");
    EXPECT_EQ(found->password, "p@ss:w\xC3\xB6rd");
    EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Find, AnotherRegistryGetsNothing) {
    file(auths("registry.example", auth("anna:x")));
    for (const char* host : {"registry.example.evil.test", "registry.example:5000", "xregistry.example", "docker.io"}) {
        EXPECT_EQ(user_of(host), "(nobody)") << host;
    }
}

TEST_F(Find, TheLongestKeyThatCoversTheRepositoryWins) {
    file(R"({"auths":{"r.test":)" + auth("host:x") + R"(,"r.test/team":)" + auth("team:x") + R"(,"r.test/team/app":)" +
         auth("app:x") + "}}");
    EXPECT_EQ(user_of("r.test", "other"), "host");
    EXPECT_EQ(user_of("r.test", "team/tool"), "team");
    EXPECT_EQ(user_of("r.test", "team/app"), "app");
    EXPECT_EQ(user_of("r.test", "teamwork"), "host");
    EXPECT_EQ(user_of("r.test", ""), "host");
}

TEST_F(Find, DockersNamesForItsOwnRegistryAreDockerIo) {
    for (const char* key : {"https://index.docker.io/v1/", "index.docker.io", "docker.io",
                            "https://registry-1.docker.io", "registry-1.docker.io/v2/"}) {
        sources_.files.clear();
        file(auths(key, auth("anna:x")));
        EXPECT_EQ(user_of("docker.io"), "anna") << key;
        EXPECT_EQ(user_of("index.docker.io"), "anna") << key;
    }
}

TEST_F(Find, TheKeyInTheRegistrysOwnSpellingWinsOverAUrl) {
    file(R"({"auths":{"https://r.test/v2/":)" + auth("old:x") + R"(,"r.test":)" + auth("new:x") +
         R"(,"http://r.test":)" + auth("older:x") + "}}");
    EXPECT_EQ(user_of("r.test"), "new");
}

TEST_F(Find, TakesTokensAndPlainFields) {
    file(R"({"auths":{"a.test":{"identitytoken":"t0"},"b.test":{"username":"u","password":"p"}}})");
    EXPECT_EQ(must(find_credentials(sources_, "a.test", "x", warnings_))->identity_token, "t0");
    EXPECT_EQ(must(find_credentials(sources_, "b.test", "x", warnings_))->password, "p");
}

TEST_F(Find, TheFirstFileThatKnowsTheRegistryDecides) {
    sources_.files.push_back({.path = dir_ / "missing.json"});
    file("");
    file(auths("r.test", "{}"));
    file(auths("r.test", auth("first:x")));
    file(auths("r.test", auth("second:x")));
    EXPECT_EQ(user_of("r.test"), "first");
}

TEST_F(Find, WarnsOfAFileThatOthersMayReadWhereItIsUsed) {
    const auto path = file(auths("r.test", auth("anna:geheim")), 0640);
    EXPECT_EQ(user_of("other.test"), "(nobody)");
    EXPECT_THAT(warnings_, IsEmpty());
    EXPECT_EQ(user_of("r.test"), "anna");
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_THAT(warnings_[0], HasSubstr("'" + path.string() + "' holds passwords and other users may read it"));
    EXPECT_THAT(warnings_[0], Not(HasSubstr("geheim")));
}

// The parser's own message would show the text around the fault.
TEST_F(Find, NoErrorShowsASecret) {
    const std::string secret = base::base64("anna:geheim");
    const std::string texts[]{R"({"auths":{"r.test":{"auth":")" + secret + "\"}",
                              R"({"auths":{"r.test":{"auth":")" + secret + "\x01\"}}}",
                              R"({"auths":{"r.test":{"auth":"!)" + secret + "\"}}}",
                              R"({"auths":{"r.test":{"auth":")" + base::base64("geheim") + "\"}}}",
                              R"({"auths":{"r.test":{"auth":["geheim"]}}})",
                              R"({"auths":{"r.test":"geheim"}})",
                              R"({"auths":["geheim"]})",
                              R"(["geheim"])",
                              "geheim"};
    for (const std::string& text : texts) {
        sources_.files.clear();
        const auto path = file(text);
        const Error error = must_fail(find_credentials(sources_, "r.test", "x", warnings_));
        EXPECT_EQ(error.code, ErrorCode::corrupt) << text;
        EXPECT_THAT(error.message, HasSubstr(path.string()));
        for (const std::string& word : {std::string("geheim"), secret, secret.substr(0, 8)}) {
            EXPECT_THAT(error.message + error.hint, Not(HasSubstr(word)));
        }
    }
}

TEST_F(Find, AHugeOrEndlessFileIsAnErrorAndNoHang) {
    file(std::string(2'000'000, ' '));
    EXPECT_THAT(must_fail(find_credentials(sources_, "r.test", "x", warnings_)).message, HasSubstr("larger than 1m"));
    sources_.files = {{.path = "/dev/zero"}};
    EXPECT_THAT(must_fail(find_credentials(sources_, "r.test", "x", warnings_)).message, HasSubstr("not a regular"));
    ::mkfifo((dir_ / "fifo").c_str(), 0600);
    sources_.files = {{.path = dir_ / "fifo"}};
    EXPECT_THAT(must_fail(find_credentials(sources_, "r.test", "x", warnings_)).message, HasSubstr("not a regular"));
}

TEST_F(Find, AFileThatWasNamedMustBeThere) {
    sources_ = find_sources(dir_ / "typo.json");
    const Error error = must_fail(find_credentials(sources_, "r.test", "x", warnings_));
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_THAT(error.message, HasSubstr("typo.json"));
}

std::vector<fs::path> paths(const Sources& sources) {
    std::vector<fs::path> all;
    for (const auto& file : sources.files) all.push_back(file.path);
    return all;
}

TEST(FindSources, AreTheFlagOrTheVariableAloneElseEachToolsOwn) {
    const EnvSetting home("HOME", "/home/anna"), session("XDG_RUNTIME_DIR", "/run/user/7"),
        config("XDG_CONFIG_HOME", std::nullopt), docker("DOCKER_CONFIG", std::nullopt);
    {
        const EnvSetting named("REGISTRY_AUTH_FILE", "/v.json");
        EXPECT_THAT(paths(find_sources("/flag.json")), ::testing::ElementsAre("/flag.json"));
        EXPECT_THAT(paths(find_sources(std::nullopt)), ::testing::ElementsAre("/v.json"));
    }
    const EnvSetting unnamed("REGISTRY_AUTH_FILE", std::nullopt);
    EXPECT_THAT(paths(find_sources(std::nullopt)),
                ::testing::ElementsAre("/run/user/7/containers/auth.json", "/home/anna/.config/coracle/auth.json",
                                       "/home/anna/.docker/config.json"));
    const EnvSetting moved("DOCKER_CONFIG", "/d"), settings("XDG_CONFIG_HOME", "/c"), none("XDG_RUNTIME_DIR", "");
    EXPECT_THAT(paths(find_sources(std::nullopt)),
                ::testing::ElementsAre("/run/containers/" + std::to_string(::geteuid()) + "/auth.json",
                                       "/c/coracle/auth.json", "/d/config.json"));
}

}  // namespace
}  // namespace coracle::credentials

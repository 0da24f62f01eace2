// Credential helpers are asked as docker asks them, bounded in time and output, and only under a helper's name.
#include "credentials/helper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/env_setting.hpp"
#include "support/test_dir.hpp"

namespace coracle::credentials {
namespace {

using namespace std::chrono_literals;
using test::EnvSetting;
using test::must;
using test::must_fail;
using ::testing::HasSubstr;
using ::testing::Not;

class Helper : public ::testing::Test {
protected:
    void install(const std::string& name, const std::string& script) {
        const auto path = dir_.write("docker-credential-" + name, "#!/bin/sh\n" + script);
        ::chmod(path.c_str(), 0755);
    }
    Sources auth_file(const std::string& text) {
        const auto path = dir_.write("auth.json", text);
        ::chmod(path.c_str(), 0600);
        return {.files = {{.path = path}}, .helper_timeout = 10s};
    }
    std::string user_of(const std::string& text, const std::string& host = "r.test") {
        const auto found = must(find_credentials(auth_file(text), host, "app", warnings_));
        return found ? found->username + ":" + found->password + found->identity_token : "(nobody)";
    }

    test::TestDir dir_;
    EnvSetting path_{"PATH", dir_.path().string() + ":/usr/bin:/bin"};
    std::vector<std::string> warnings_;
};

const std::string not_found = "echo 'credentials not found in native keychain'; exit 1\n";
const std::string says_server = R"(s=$(cat); echo "{\"ServerURL\":\"$s\",\"Username\":\"$s\",\"Secret\":\"$1\"}")";

TEST_F(Helper, IsAskedForTheServerAndAnswers) {
    install("says", says_server);
    EXPECT_EQ(user_of(R"({"credHelpers":{"r.test":"says"}})"), "r.test:get");
    EXPECT_EQ(user_of(R"({"credHelpers":{"other.test":"says"}})"), "(nobody)");
    EXPECT_EQ(user_of(R"({"credsStore":"says","auths":{"r.test":{}}})"), "r.test:get");
    EXPECT_EQ(user_of(R"({"credsStore":"says"})", "docker.io"), "https://index.docker.io/v1/:get");
}

TEST_F(Helper, ThatHasNothingIsNoError) {
    install("empty", not_found);
    EXPECT_EQ(user_of(R"({"credHelpers":{"r.test":"empty"}})"), "(nobody)");
    EXPECT_EQ(user_of(R"({"credHelpers":{"r.test":"empty"},"auths":{"r.test":{"username":"u","password":"p"}}})"),
              "u:p");
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(Helper, KnowsDockersRegistryUnderEitherName) {
    install("podmans", R"(read s; [ "$s" = docker.io ] && echo '{"Username":"u","Secret":"p"}' && exit; )" + not_found);
    EXPECT_EQ(user_of(R"({"credsStore":"podmans"})", "docker.io"), "u:p");
}

TEST_F(Helper, GivesAnIdentityTokenUnderAReservedName) {
    install("token", R"(echo '{"Username":"<token>","Secret":"t0"}')");
    const auto found = must(ask_helper("token", "r.test", 10s));
    EXPECT_EQ(found->identity_token, "t0");
    EXPECT_EQ(found->username, "");
}

TEST_F(Helper, OfOneRegistryThatFailsIsAnErrorThatShowsNoSecret) {
    install("bad", "echo geheim; echo geheim >&2; exit 2\n");
    install("babble", "echo geheim\n");
    for (const char* name : {"bad", "babble", "missing"}) {
        const auto sources = auth_file(R"({"credHelpers":{"r.test":")" + std::string(name) + "\"}}");
        const Error error = must_fail(find_credentials(sources, "r.test", "app", warnings_));
        EXPECT_THAT(error.message, HasSubstr("docker-credential-" + std::string(name)));
        EXPECT_THAT(error.message + error.hint, Not(HasSubstr("geheim")));
    }
}

TEST_F(Helper, OfAllRegistriesThatFailsIsAWarning) {
    EXPECT_EQ(user_of(R"({"credsStore":"desktop"})"), "(nobody)");
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_THAT(warnings_[0], HasSubstr("docker-credential-desktop"));
}

TEST_F(Helper, IsOnlyAProgramOfThatName) {
    install("x", says_server);
    for (const std::string name : {"", "../docker-credential-x", "a/b", "x get", "x;y", "$(x)", "x\n"}) {
        EXPECT_EQ(must_fail(ask_helper(name, "r.test", 10s)).code, ErrorCode::invalid_request) << name;
    }
    EXPECT_EQ(must_fail(ask_helper(std::string(65, 'x'), "r.test", 10s)).code, ErrorCode::invalid_request);
}

TEST_F(Helper, IsBoundedInTimeAndOutput) {
    install("slow", "sleep 60\n");
    install("loud", "yes\n");
    EXPECT_EQ(must_fail(ask_helper("slow", "r.test", 100ms)).code, ErrorCode::unavailable);
    EXPECT_THAT(must_fail(ask_helper("loud", "r.test", 10s)).message, HasSubstr("more than 64k"));
}

}  // namespace
}  // namespace coracle::credentials

// What a login writes is private, whole, and leaves everybody else's words alone.
#include "credentials/login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "credentials/auth_file.hpp"
#include "oci/json.hpp"
#include "support/test_dir.hpp"

namespace coracle::credentials {
namespace {

namespace fs = std::filesystem;
using oci::Json;
using test::must;
using test::must_fail;
using test::read_text;
using ::testing::HasSubstr;
using ::testing::Not;

Credentials anna() { return {.username = "anna", .password = "p@ss:w\xC3\xB6rd", .identity_token = {}}; }

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

std::string password_in(const fs::path& file, const std::string& name) {
    const auto entry = must(must(AuthFile::read(file))->entry(name));
    return entry ? entry->password : "(none)";
}

TEST(Login, MakesAFileThatOnlyItsOwnerReads) {
    const test::TestDir dir;
    const auto file = dir / "new/auth.json";
    must(store_credentials(file, "r.test", anna()));
    EXPECT_EQ(mode_of(file), 0600U);
    EXPECT_EQ(mode_of(dir / "new"), 0700U);
    EXPECT_EQ(password_in(file, "r.test"), anna().password);
}

TEST(Login, KeepsWhatItDoesNotKnowAndNarrowsTheMode) {
    const test::TestDir dir;
    const auto file =
        dir.write("config.json",
                  R"({"psFormat":"x","auths":{"a.test":{"auth":"YTpi","email":"e"},"https://r.test/v2/":{}},
                                    "credHelpers":{"b.test":"pass"}})");
    ::chmod(file.c_str(), 0644);
    must(store_credentials(file, "r.test", anna()));
    const Json json = Json::parse(read_text(file));
    EXPECT_EQ(json.at("psFormat"), "x");
    EXPECT_EQ(json.at("auths").at("a.test").at("email"), "e");
    EXPECT_EQ(json.at("credHelpers").at("b.test"), "pass");
    EXPECT_EQ(json.at("auths").size(), 2U);
    EXPECT_EQ(password_in(file, "r.test"), anna().password);
    EXPECT_EQ(mode_of(file), 0600U);
}

TEST(Login, ASecondOneReplacesEverySpellingOfTheFirst) {
    const test::TestDir dir;
    const auto file = dir.write("a.json", R"({"auths":{"docker.io":{"auth":"YTpi"},"https://index.docker.io/v1/":
                                             {"auth":"YTpi"}}})");
    must(store_credentials(file, "docker.io", anna()));
    EXPECT_EQ(Json::parse(read_text(file)).at("auths").size(), 1U);
    EXPECT_EQ(password_in(file, "docker.io/library/x"), anna().password);
}

TEST(Login, SeveralAtOnceLoseNothing) {
    const test::TestDir dir;
    const auto file = dir / "auth.json";
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&file, i] { must(store_credentials(file, "r" + std::to_string(i) + ".test", anna())); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Json::parse(read_text(file)).at("auths").size(), 8U);
}

TEST(Login, FollowsALinkAndDoesNotReplaceIt) {
    const test::TestDir dir;
    const auto target = dir.write("dotfiles/auth.json", "{}");
    fs::create_symlink(target, dir / "auth.json");
    must(store_credentials(dir / "auth.json", "r.test", anna()));
    EXPECT_TRUE(fs::is_symlink(dir / "auth.json"));
    EXPECT_EQ(password_in(target, "r.test"), anna().password);
}

TEST(Login, LeavesAFileToItsHelperAndABrokenOneAsItIs) {
    const test::TestDir dir;
    for (const char* text : {R"({"credsStore":"pass"})", R"({"credHelpers":{"r.test":"pass"}})", "{broken"}) {
        const auto file = dir.write("c.json", text);
        const Error error = must_fail(store_credentials(file, "r.test", anna()));
        EXPECT_THAT(error.message, HasSubstr("c.json"));
        EXPECT_THAT(error.message + error.hint, Not(HasSubstr("p@ss")));
        EXPECT_EQ(read_text(file), text);
    }
}

TEST(Logout, RemovesOneRegistryOrAll) {
    const test::TestDir dir;
    const auto file = dir.write("a.json", R"({"x":1,"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"},"a.test":{},
                                             "b.test":{}}})");
    EXPECT_TRUE(must(remove_credentials(file, "docker.io")));
    EXPECT_FALSE(must(remove_credentials(file, "docker.io")));
    EXPECT_EQ(Json::parse(read_text(file)).at("auths").size(), 2U);
    EXPECT_TRUE(must(remove_all_credentials(file)));
    EXPECT_FALSE(must(remove_all_credentials(file)));
    EXPECT_EQ(Json::parse(read_text(file)).at("x"), 1);
}

TEST(Logout, OfAFileThatIsNotThereMakesNothing) {
    const test::TestDir dir;
    EXPECT_FALSE(must(remove_credentials(dir / "a/b.json", "r.test")));
    EXPECT_FALSE(must(remove_all_credentials(dir / "a/b.json")));
    EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(ParseRegistry, TakesHostsAsPeopleWriteThem) {
    const std::pair<const char*, const char*> good[]{{"docker.io", "docker.io"},
                                                     {"https://index.docker.io/v1/", "docker.io"},
                                                     {"https://registry.example:5000/", "registry.example:5000"},
                                                     {"localhost", "localhost"},
                                                     {"r.test/team", "r.test/team"}};
    for (const auto& [text, registry] : good) EXPECT_EQ(must(parse_registry(text)), registry);
    for (const char* bad : {"", "busybox", "-x.test", "a b.test", "r.test/..", "r.test/Team", "../x", "user@r.test"}) {
        EXPECT_EQ(must_fail(parse_registry(bad)).code, ErrorCode::invalid_request) << bad;
    }
}

}  // namespace
}  // namespace coracle::credentials

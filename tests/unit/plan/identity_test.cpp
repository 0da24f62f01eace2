// The program is whom USER names, as Docker reads it, and a name that the image does not know is an error.
#include "plan/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_dir.hpp"

namespace coracle::plan {
namespace {

using test::must;
using test::must_fail;
using ::testing::HasSubstr;

const std::string passwd =
    "root:x:0:0:root:/root:/bin/sh\n"
    "app:x:1000:100:App:/home/app:/bin/sh\n"
    "1001:x:7:7::/seven:/bin/sh\n"
    "homeless:x:8:8:::/bin/sh\n"
    "short:x:9\n"
    "last:x:4294967295:0::/:/bin/sh\n";
const std::string group =
    "root:x:0:\n"
    "wheel:x:10:root,app\n"
    "users:x:100:app\n"
    "audio:x:29:app\n"
    "audio2:x:29:app\n"
    "empty:x:30:\n"
    "broken\n";

// "1000:100 +10,29 app /home/app"
std::string resolved(std::string_view spec, std::string_view passwd_text = passwd,
                     std::string_view group_text = group) {
    const ResolvedUser user = must(resolve_user(spec, passwd_text, group_text));
    std::string text = std::to_string(user.identity.uid) + ":" + std::to_string(user.identity.gid);
    for (std::size_t i = 0; i < user.identity.additional_gids.size(); ++i) {
        text += (i == 0 ? " +" : ",") + std::to_string(user.identity.additional_gids[i]);
    }
    return text + " " + (user.name.empty() ? "-" : user.name) + " " + user.home.value_or("-");
}

TEST(Identity, IsWhatUserSays) {
    const std::vector<std::pair<const char*, const char*>> table{
        {"", "0:0 +10 root /root"},
        {"root", "0:0 +10 root /root"},
        {"0", "0:0 +10 root /root"},
        {"app", "1000:100 +10,29 app /home/app"},
        {"1000", "1000:100 +10,29 app /home/app"},
        {"app:wheel", "1000:10 app /home/app"},
        {"app:10", "1000:10 app /home/app"},
        {"1000:4711", "1000:4711 app /home/app"},
        {"4711", "4711:0 - -"},
        {"4711:4712", "4711:4712 - -"},
        {":wheel", "0:10 root /root"},
        {"homeless", "8:8 homeless -"},
    };
    for (const auto& [spec, who] : table) EXPECT_EQ(resolved(spec), who) << spec;
}

TEST(Identity, ANameThatLooksLikeANumberIsAName) { EXPECT_EQ(resolved("1001"), "7:7 1001 /seven"); }

TEST(Identity, ABareUidIsAMemberOfNoGroup) {
    EXPECT_EQ(resolved("4711", passwd, "root:x:0:\ndisk:x:6:\nshadow:x:42:\n"), "4711:0 - -");
}

TEST(Identity, AnImageWithoutPasswdKnowsNumbersOnly) {
    EXPECT_EQ(resolved("", "", ""), "0:0 - -");
    EXPECT_EQ(resolved("1000:1000", "", ""), "1000:1000 - -");
    EXPECT_EQ(must_fail(resolve_user("app", "", "")).code, ErrorCode::not_found);
}

TEST(Identity, UnknownUsersAndGroupsAreNamedWithTheFix) {
    const std::vector<std::pair<const char*, const char*>> table{
        {"nobody", "user 'nobody'"},
        {"app:nogroup", "group 'nogroup'"},
        {"app:", "group ''"},
        {"short", "user 'short'"},
        {"last", "user 'last'"},
        {"4294967295", "user '4294967295'"},
        {"4294967296", "'4294967296'"},
        {"-1", "user '-1'"},
        {"0:-1", "group '-1'"},
        {"10x", "user '10x'"},
        {"app:broken", "group 'broken'"},
    };
    for (const auto& [spec, words] : table) {
        const Error error = must_fail(resolve_user(spec, passwd, group));
        EXPECT_EQ(error.code, ErrorCode::not_found) << spec;
        EXPECT_THAT(error.message, HasSubstr(words));
        EXPECT_THAT(error.hint, HasSubstr("numeric id"));
    }
}

TEST(PasswdWith, AddsALineThatIsFoundAgain) {
    const ResolvedUser user{.identity = {.uid = 4711, .gid = 12, .additional_gids = {}}, .name = {}, .home = {}};
    for (const std::string start : {"", "root:x:0:0::/root:/bin/sh\n", "root:x:0:0::/root:/bin/sh"}) {
        const std::string text = passwd_with(start, user, "/workspace");
        EXPECT_EQ(resolved("4711", text), "4711:12 sandbox /workspace");
        EXPECT_EQ(text.back(), '\n');
        EXPECT_EQ(text.find("\n\n"), std::string::npos);
    }
}

TEST(GroupWith, AddsTheGroupWhereItIsMissing) {
    EXPECT_EQ(group_with("", 5), "sandbox:x:5:\n");
    EXPECT_EQ(group_with("root:x:0:", 5), "root:x:0:\nsandbox:x:5:\n");
    EXPECT_EQ(group_with("tty:x:5:\n", 5), "tty:x:5:\n");
}

}  // namespace
}  // namespace coracle::plan

// Capabilities have one spelling inside coracle, and nobody gets all of them by one word.
#include "policy/capabilities.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace coracle::policy {
namespace {

using Names = std::vector<std::string>;

TEST(Capabilities, TheListHasTheKernelsOrder) {
    EXPECT_EQ(capability_names[CAP_CHOWN], "CAP_CHOWN");
    EXPECT_EQ(capability_names[CAP_SYS_ADMIN], "CAP_SYS_ADMIN");
    EXPECT_EQ(capability_names[CAP_SETFCAP], "CAP_SETFCAP");
    EXPECT_EQ(capability_names[CAP_LAST_CAP], "CAP_CHECKPOINT_RESTORE");
    EXPECT_EQ(capability_names.size(), CAP_LAST_CAP + 1U);
}

TEST(Capabilities, HaveOneSpelling) {
    for (const char* text : {"net_bind_service", "NET_BIND_SERVICE", "CAP_NET_BIND_SERVICE", "cap_net_bind_service"}) {
        EXPECT_EQ(parse_capability(text).value(), "CAP_NET_BIND_SERVICE") << text;
    }
}

TEST(Capabilities, AnUnknownOneIsRefusedWithTheNearestName) {
    const auto typo = parse_capability("NET_BIND_SERVCE");
    ASSERT_FALSE(typo);
    EXPECT_EQ(typo.error().code, ErrorCode::invalid_request);
    EXPECT_NE(typo.error().message.find("NET_BIND_SERVCE"), std::string::npos);
    EXPECT_EQ(typo.error().hint, "did you mean 'CAP_NET_BIND_SERVICE'?");
    EXPECT_FALSE(parse_capability(""));
    EXPECT_FALSE(parse_capability("ALL"));
}

TEST(Capabilities, DroppingWinsOverAdding) {
    EXPECT_EQ(combine_capabilities({"setuid", "chown", "CHOWN"}, {}).value(), (Names{"CAP_CHOWN", "CAP_SETUID"}));
    EXPECT_EQ(combine_capabilities({"setuid", "chown"}, {"CAP_SETUID", "kill"}).value(), Names{"CAP_CHOWN"});
    EXPECT_EQ(combine_capabilities({"setuid"}, {"all"}).value(), Names{});
    EXPECT_EQ(combine_capabilities({}, {"ALL"}).value(), Names{});
}

TEST(Capabilities, AllCannotBeAddedAndTyposCannotBeDropped) {
    EXPECT_FALSE(combine_capabilities({"ALL"}, {}));
    EXPECT_FALSE(combine_capabilities({}, {"ALL", "setuit"}));
}

}  // namespace
}  // namespace coracle::policy

// Challenges of registries, well-formed, odd and hostile.
#include "registry/challenge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coracle::registry {
namespace {

TEST(Challenge, BearerGivesRealmAndService) {
    const auto found = choose_challenge(
        {"Bearer realm=\"https://auth.example/token\",service=\"registry.example\",scope=\"a:b:pull\""});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->scheme, Challenge::Scheme::bearer);
    EXPECT_EQ(found->realm, "https://auth.example/token");
    EXPECT_EQ(found->service, "registry.example");
}

TEST(Challenge, CaseAndSpacesDoNotMatter) {
    const auto found = choose_challenge({"  bEaReR   REALM = \"https://a/t\" ,  Service=plain"});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->realm, "https://a/t");
    EXPECT_EQ(found->service, "plain");
}

TEST(Challenge, QuotedStringsMayHoldCommasAndEscapedQuotes) {
    const auto found = choose_challenge({R"(Bearer service="a, \"b\" Basic realm=x",realm="https://a/t?x=1,2")"});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->service, R"(a, "b" Basic realm=x)");
    EXPECT_EQ(found->realm, "https://a/t?x=1,2");
}

TEST(Challenge, BearerIsStrongerThanBasicInWhateverOrder) {
    EXPECT_EQ(choose_challenge({"Basic realm=\"x\", Bearer realm=\"https://a\""})->scheme, Challenge::Scheme::bearer);
    EXPECT_EQ(choose_challenge({"Basic realm=\"x\"", "Bearer realm=\"https://a\""})->scheme, Challenge::Scheme::bearer);
    EXPECT_EQ(choose_challenge({"Bearer realm=\"https://a\"", "Basic realm=\"x\""})->scheme, Challenge::Scheme::bearer);
}

TEST(Challenge, WhatCannotBeAnsweredIsPassedOver) {
    EXPECT_FALSE(choose_challenge({}));
    EXPECT_FALSE(choose_challenge({""}));
    EXPECT_FALSE(choose_challenge({"Negotiate"}));
    EXPECT_FALSE(choose_challenge({"Bearer service=\"no realm\""}));
    EXPECT_FALSE(choose_challenge({"\"\\,=;;=\" \x01\xff"}));
    EXPECT_EQ(choose_challenge({"Negotiate abc==, Basic realm=\"x\""})->scheme, Challenge::Scheme::basic);
}

TEST(Challenge, AQuoteWithoutEndEndsWithTheHeader) {
    EXPECT_EQ(choose_challenge({"Bearer realm=\"https://a/\\"})->realm, "https://a/\\");
}

TEST(Challenge, AHeaderWithoutEndIsNotRead) {
    EXPECT_FALSE(choose_challenge({"Bearer realm=\"" + std::string(100'000, 'a') + "\""}));
}

}  // namespace
}  // namespace coracle::registry

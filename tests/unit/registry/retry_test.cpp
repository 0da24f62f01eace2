// When a request is tried again, and after how long.
#include "registry/retry.hpp"

#include <gtest/gtest.h>

namespace coracle::registry {
namespace {

using namespace std::chrono_literals;

TEST(Retry, OnlyWhatTimeMayHealIsTriedAgain) {
    for (const long status : {408L, 429L, 500L, 502L, 503L, 504L}) EXPECT_TRUE(is_worth_a_retry(status)) << status;
    for (const long status : {200L, 206L, 400L, 401L, 403L, 404L, 416L, 501L, 505L})
        EXPECT_FALSE(is_worth_a_retry(status)) << status;
}

TEST(Retry, RetryAfterIsSecondsOrADate) {
    EXPECT_EQ(parse_retry_after("7", 0), 7s);
    EXPECT_EQ(parse_retry_after("0", 0), 0s);
    EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:40 GMT", 40), 60s);
    EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:40 GMT", 4000), 0s) << "a date that is over";
}

TEST(Retry, NonsenseInRetryAfterIsNothing) {
    for (const char* text : {"", "soon", "-", "7 apples", "0x10"}) EXPECT_FALSE(parse_retry_after(text, 0)) << text;
    EXPECT_EQ(parse_retry_after("-5", 0), 0s);
}

TEST(Retry, AnAbsurdRetryAfterIsLongerThanAnybodyWaits) {
    EXPECT_GT(parse_retry_after("99999999", 0), longest_wait);
    EXPECT_GT(parse_retry_after("99999999999999999999999999", 0), longest_wait);
}

TEST(Retry, TheWaitDoublesUpToFiveSecondsAndJitterTakesAtMostHalf) {
    EXPECT_EQ(backoff(1, 0.0), 200ms);
    EXPECT_EQ(backoff(2, 0.0), 400ms);
    EXPECT_EQ(backoff(5, 0.0), 3200ms);
    EXPECT_EQ(backoff(1'000'000, 0.0), 5s);
    EXPECT_EQ(backoff(2, 1.0), 200ms);
}

}  // namespace
}  // namespace coracle::registry

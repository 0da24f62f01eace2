// A typo finds the word it was meant to be; anything else finds none.
#include "base/did_you_mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace coracle::base {
namespace {

constexpr std::array<std::string_view, 4> words{"memory", "memory_limit", "pids", "timeout"};

TEST(DidYouMean, FindsTheWordBehindATypo) {
    EXPECT_EQ(nearest_word("memroy", words), "memory");
    EXPECT_EQ(nearest_word("MEMORY_LIMT", words), "memory_limit");
    EXPECT_EQ(nearest_word("pid", words), "pids");
    EXPECT_EQ(did_you_mean("timout", words), "did you mean 'timeout'?");
}

TEST(DidYouMean, SaysNothingWhereNothingIsNear) {
    EXPECT_EQ(nearest_word("banana", words), std::nullopt);
    EXPECT_EQ(nearest_word("", words), std::nullopt);
    EXPECT_EQ(did_you_mean("banana", words, "see --help"), "see --help");
    EXPECT_EQ(nearest_word("memory", std::vector<std::string>{}), std::nullopt);
}

TEST(DidYouMean, CountsASwapOfNeighboursAsOneStep) {
    EXPECT_EQ(edit_distance("abcd", "abdc"), 1U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("same", "SAME"), 0U);
}

TEST(DidYouMean, DoesNotWorkOnWordsWithoutBound) {
    const std::string endless(1'000'000, 'a');
    EXPECT_EQ(nearest_word(endless, std::vector<std::string>{endless}), std::nullopt);
}

}  // namespace
}  // namespace coracle::base

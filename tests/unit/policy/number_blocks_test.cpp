// The blocks hold every number but the named ones, each exactly once.
#include "policy/number_blocks.hpp"

#include <gtest/gtest.h>

#include <random>

namespace coracle::policy {
namespace {

std::size_t times_held(const std::vector<NumberBlock>& blocks, std::uint32_t number) {
    std::size_t times = 0;
    for (const NumberBlock& block : blocks) times += (number & block.mask) == block.value ? 1 : 0;
    return times;
}

TEST(NumberBlocks, HoldEveryNumberButTheNamedOnesOnce) {
    const std::set<std::uint32_t> out{0, 1, 2, 16, 0x5412, 0x541c, 0x80000000, 0xffffffff};
    const auto blocks = blocks_without(out);
    std::uint64_t sum = 0;
    for (const NumberBlock& block : blocks) sum += std::uint64_t{~block.mask} + 1;
    EXPECT_EQ(sum, (std::uint64_t{1} << 32U) - out.size());
    for (const std::uint32_t number : out) EXPECT_EQ(times_held(blocks, number), 0U) << number;
    std::mt19937 random(1);
    for (int i = 0; i < 100'000; ++i) {
        const auto number = static_cast<std::uint32_t>(random());
        EXPECT_EQ(times_held(blocks, number), out.contains(number) ? 0U : 1U) << number;
    }
}

TEST(NumberBlocks, OneNumberNeedsOneBlockABit) {
    EXPECT_EQ(blocks_without({42}).size(), 32U);
    EXPECT_EQ(blocks_without({}), (std::vector<NumberBlock>{{0, 0}}));
}

}  // namespace
}  // namespace coracle::policy

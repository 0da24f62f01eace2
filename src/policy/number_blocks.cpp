// Implements the cover: follow the bits from the highest, keep every branch that holds none of the numbers.
#include "policy/number_blocks.hpp"

namespace coracle::policy {

namespace {

constexpr std::uint32_t all_bits = 0xffffffff;

// A branch of the tree of all numbers: those that share `depth` leading bits with `value`.
struct Branch {
    unsigned depth = 0;
    std::uint32_t value = 0;

    std::uint32_t mask() const { return depth == 0 ? 0 : all_bits << (32 - depth); }
    std::uint32_t last() const { return value | ~mask(); }
    Branch child(bool bit) const { return {depth + 1, value | (bit ? 1U << (31 - depth) : 0U)}; }
};

bool holds_any(const Branch& branch, const std::set<std::uint32_t>& numbers) {
    const auto first = numbers.lower_bound(branch.value);
    return first != numbers.end() && *first <= branch.last();
}

void collect(const Branch& branch, const std::set<std::uint32_t>& numbers, std::vector<NumberBlock>& blocks) {
    if (!holds_any(branch, numbers)) {
        blocks.push_back({branch.mask(), branch.value});
    } else if (branch.depth < 32) {
        collect(branch.child(false), numbers, blocks);
        collect(branch.child(true), numbers, blocks);
    }
}

}  // namespace

std::vector<NumberBlock> blocks_without(const std::set<std::uint32_t>& numbers) {
    std::vector<NumberBlock> blocks;
    collect(Branch{}, numbers, blocks);
    return blocks;
}

}  // namespace coracle::policy

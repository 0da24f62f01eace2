// Covers "every 32-bit number except these" by masked comparisons, the only exact way to say it to libseccomp.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace coracle::policy {

// The numbers n with (n & mask) == value.
struct NumberBlock {
    std::uint32_t mask = 0;
    std::uint32_t value = 0;
    bool operator==(const NumberBlock&) const = default;
};

// The fewest blocks of common leading bits that hold every number but `numbers`; none overlaps another.
//
// Why not SCMP_CMP_NE: it compares 64 bits, while the kernel looks at the low 32 of an int or unsigned int argument. A
// caller who sets a high bit would pass "not equal to TIOCSTI" and still have TIOCSTI (CVE-2019-10063 in flatpak).
std::vector<NumberBlock> blocks_without(const std::set<std::uint32_t>& numbers);

}  // namespace coracle::policy

// Implements the search for the nearest word.
#include "cli/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace coracle::cli {

namespace {

// How many letters must be put in, left out or changed to make `b` of `a` (Levenshtein), one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
        }
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    constexpr std::size_t longest = 64;  // the cost is quadratic and the word a stranger's
    if (word.size() > longest) return {};
    std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
    const std::string* nearest = nullptr;
    for (const std::string& candidate : known) {
        const std::size_t steps = distance(word, candidate);
        if (steps > limit) continue;
        nearest = &candidate;
        limit = steps - (steps == 0 ? 0 : 1);  // only a nearer one replaces it
    }
    return nearest == nullptr ? std::string() : "did you mean '" + *nearest + "'?";
}

}  // namespace coracle::cli

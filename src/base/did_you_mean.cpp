// Implements the distance between words: optimal string alignment, three rows at a time.
#include "base/did_you_mean.hpp"

#include <algorithm>
#include <vector>

namespace coracle::base {

namespace {

// Words come from command lines and files of strangers: the work is quadratic, so it is bounded.
constexpr std::size_t longest_word = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    if (a.size() > longest_word || b.size() > longest_word) return longest_word;
    std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
            const bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

std::size_t typo_distance(std::string_view word) { return word.size() < 4 ? 1 : word.size() < 8 ? 2 : 3; }

}  // namespace coracle::base

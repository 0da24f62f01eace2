// Implements nearness as the edit distance.
#include "image/near_names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace coracle::image {

namespace {

// Levenshtein's distance, row by row.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string near_names(const std::string& wanted, std::vector<std::string> names) {
    constexpr std::size_t most = 5;
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return distance(wanted, a) < distance(wanted, b);
    });
    names.resize(std::min(names.size(), most));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

}  // namespace coracle::image

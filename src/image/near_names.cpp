// Implements nearness by the edit distance.
#include "image/near_names.hpp"

#include <algorithm>

#include "base/did_you_mean.hpp"

namespace coracle::image {

std::string near_names(const std::string& wanted, std::vector<std::string> names) {
    constexpr std::size_t most = 5;
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return base::edit_distance(wanted, a) < base::edit_distance(wanted, b);
    });
    names.resize(std::min(names.size(), most));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

}  // namespace coracle::image

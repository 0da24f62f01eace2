// Implements the alignment of columns.
#include "cli/table.hpp"

#include <algorithm>

namespace coracle::cli {

std::string table(const std::vector<std::vector<std::string>>& rows) {
    if (rows.empty()) return {};
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string output;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
            output += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        }
        output += row.back() + "\n";
    }
    return output;
}

std::string short_digest(const std::string& digest) { return digest.substr(digest.find(':') + 1).substr(0, 12); }

}  // namespace coracle::cli

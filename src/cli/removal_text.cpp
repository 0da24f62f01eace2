// Implements the lines about removals.
#include "cli/removal_text.hpp"

#include "cli/table.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

std::string removal_text(const RemovalReport& report, bool dry_run) {
    std::vector<std::vector<std::string>> rows;
    std::uint64_t bytes = 0;
    for (const Removed& item : report.removed) {
        rows.push_back({item.kind, item.kind == "name" ? "-" : human_size(item.size), printable(item.what)});
        bytes += item.size;
    }
    std::string lines = table(rows);
    for (const std::string& digest : report.in_use) {
        lines += "in use, goes with the next gc after its run: " + printable(digest) + "\n";
    }
    for (const std::string& warning : report.warnings) lines += "warning: " + printable(warning) + "\n";
    return lines + (dry_run ? "would free " : "freed ") + human_size(bytes) + "\n";
}

}  // namespace coracle::cli

// Prints rows of text in aligned columns.
#pragma once

#include <string>
#include <vector>

namespace coracle::cli {

// One line a row, two spaces between columns, nothing behind the last one. All rows have as many cells as the first.
std::string table(const std::vector<std::vector<std::string>>& rows);

// The first twelve digits of "sha256:<hex>" tell contents apart for a reader; --json has them all.
std::string short_digest(const std::string& digest);

}  // namespace coracle::cli

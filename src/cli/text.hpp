// Makes bytes of strangers fit for JSON and for a terminal: UTF-8 with replacements, no control characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coracle::cli {

bool is_utf8(std::string_view bytes);
// Well-formed UTF-8: each byte that belongs to no character becomes U+FFFD.
std::string lossy_utf8(std::string_view bytes);

// One line without control characters: a name out of a hostile archive must not move the reader's cursor.
std::string printable(std::string_view text);
// "1.4 MiB": for tables, not to be read back.
std::string human_size(std::uint64_t bytes);

}  // namespace coracle::cli

// Bytes as base64 text (RFC 4648, section 4) and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coracle::base {

std::string base64(std::string_view bytes);
// The padding may be missing. No value: another character, or a text of no whole bytes.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace coracle::base

// An archive written down without its digests: they are computed, so that a changed byte gets past them to what lies
// behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coracle::fuzz {

// Members, each a byte 0x1e, a name, a line feed and the content. In both, for N the number of an earlier member (0 to
// 9): "@N" becomes the digest of its content in hexadecimal digits, "#N" its size, "%N" the digest of its content
// decompressed; "@." in a name is the digest of the member itself. No value: `input` does not begin with 0x1e and is
// meant as it is.
std::optional<std::string> compose_archive(std::string_view input);

}  // namespace coracle::fuzz

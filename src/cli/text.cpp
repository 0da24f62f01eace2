// Implements the conversions of text.
#include "cli/text.hpp"

#include <array>
#include <cstddef>

namespace coracle::cli {

namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

// What may follow a lead byte: how many bytes, and the range of the second one, which shuts out overlong forms,
// surrogates and what lies above U+10FFFF (Unicode 15, table 3-7).
struct Lead {
    std::size_t length = 0;  // 0: no lead byte
    unsigned least = 0x80;
    unsigned most = 0xBF;
};

Lead lead_of(unsigned byte) {
    if (byte < 0x80) return {.length = 1};
    if (byte < 0xC2 || byte > 0xF4) return {};
    if (byte < 0xE0) return {.length = 2};
    if (byte < 0xF0) return {.length = 3, .least = byte == 0xE0 ? 0xA0U : 0x80U, .most = byte == 0xED ? 0x9FU : 0xBFU};
    return {.length = 4, .least = byte == 0xF0 ? 0x90U : 0x80U, .most = byte == 0xF4 ? 0x8FU : 0xBFU};
}

// The length of the character at the front of `bytes`, 0 where there is none.
std::size_t character_length(std::string_view bytes) {
    const Lead lead = lead_of(byte_at(bytes, 0));
    if (lead.length == 0 || lead.length > bytes.size()) return 0;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const unsigned byte = byte_at(bytes, i);
        const bool second = i == 1;
        if (byte < (second ? lead.least : 0x80U) || byte > (second ? lead.most : 0xBFU)) return 0;
    }
    return lead.length;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

std::string lossy_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
        bytes.remove_prefix(length == 0 ? 1 : length);
    }
    return text;
}

std::string printable(std::string_view text) {
    std::string line = lossy_utf8(text);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const unsigned byte = byte_at(line, i);
        if (byte < 0x20 || byte == 0x7F) line[i] = byte == '\n' || byte == '\t' ? ' ' : '?';
        // U+0080 to U+009F are control characters too: C2 80 to C2 9F in UTF-8.
        if (byte == 0xC2 && byte_at(line, i + 1) < 0xA0) line.replace(i, 2, "?");
    }
    return line;
}

std::string human_size(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 4> names{"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return std::to_string(bytes) + " B";
    std::size_t unit = 0;
    std::uint64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
    while (tenths >= 10240 && unit + 1 < names.size()) {
        tenths /= 1024;
        ++unit;
    }
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + std::string(names[unit]);
}

}  // namespace coracle::cli

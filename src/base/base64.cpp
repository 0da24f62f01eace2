// Implements base64.
#include "base/base64.hpp"

#include <cstddef>

namespace coracle::base {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t have = bytes.size() - i < 3 ? bytes.size() - i : 3;
        unsigned group = byte_at(bytes, i) << 16U;
        if (have > 1) group |= byte_at(bytes, i + 1) << 8U;
        if (have > 2) group |= byte_at(bytes, i + 2);
        text += letters[group >> 18U & 63U];
        text += letters[group >> 12U & 63U];
        text += have > 1 ? letters[group >> 6U & 63U] : '=';
        text += have > 2 ? letters[group & 63U] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
    // One letter more than whole groups holds six bits: no byte.
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    unsigned bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::size_t value = letters.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<unsigned>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 255U);
    }
    return bytes;
}

}  // namespace coracle::base

// An OCI content digest, "algorithm:hex", checked against the grammar before any path or comparison is made of it.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "coracle/error.hpp"

namespace coracle::oci {

class Digest {
public:
    // Accepts sha256 (64 lower-case hex digits) and sha512 (128). Error: corrupt, naming the text.
    static Result<Digest> parse(std::string_view text);

    std::string_view algorithm() const { return std::string_view(text_).substr(0, colon_); }
    std::string_view hex() const { return std::string_view(text_).substr(colon_ + 1); }
    std::string short_hex() const { return std::string(hex().substr(0, 12)); }
    const std::string& str() const { return text_; }

    auto operator<=>(const Digest& other) const { return text_ <=> other.text_; }
    bool operator==(const Digest& other) const { return text_ == other.text_; }

private:
    Digest(std::string text, std::size_t colon) : text_(std::move(text)), colon_(colon) {}
    std::string text_;
    std::size_t colon_ = 0;
};

// The digest of a layer's uncompressed tar, and of the bytes of a blob as stored: not to be swapped.
struct DiffId {
    Digest digest;
    auto operator<=>(const DiffId&) const = default;
};

}  // namespace coracle::oci

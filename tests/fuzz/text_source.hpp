// A fuzzed input as a stream.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "layer/byte_source.hpp"

namespace coracle::fuzz {

class TextSource final : public layer::ByteSource {
public:
    explicit TextSource(std::string_view text) : text_(text) {}
    Result<std::size_t> read(std::span<char> buffer) override {
        const std::size_t count = std::min(buffer.size(), text_.size());
        std::memcpy(buffer.data(), text_.data(), count);
        text_.remove_prefix(count);
        return count;
    }

private:
    std::string_view text_;
};

}  // namespace coracle::fuzz

// Ends a stream with an Error once it grew beyond what its compressed form can honestly hold.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/try.hpp"
#include "layer/byte_source.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

// How many bytes a blob of `compressed` bytes may unpack to.
inline Bytes longest_stream(std::uint64_t compressed, const Limits& limits) {
    const bool large = compressed > limits.stream.count / limits.expansion;
    const std::uint64_t by_ratio = large ? limits.stream.count : compressed * limits.expansion;
    return Bytes{std::min(limits.stream.count, std::max(by_ratio, limits.expansion_free.count))};
}

class BoundedSource final : public ByteSource {
public:
    BoundedSource(ByteSource& inner, Bytes bound) : inner_(inner), bound_(bound) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        TRY(const std::size_t got, inner_.read(buffer));
        count_ += got;
        if (count_ <= bound_.count) return got;
        return make_error(ErrorCode::corrupt, "the unpacked bytes exceed the limit of " + to_string(bound_),
                          "it looks like a decompression bomb");
    }

private:
    ByteSource& inner_;
    Bytes bound_;
    std::uint64_t count_ = 0;
};

}  // namespace coracle::layer

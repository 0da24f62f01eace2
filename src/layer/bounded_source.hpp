// Ends a stream with an Error once it grew beyond what its compressed form can honestly hold.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/try.hpp"
#include "layer/byte_source.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

class BoundedSource final : public ByteSource {
public:
    // What a blob of `compressed` bytes unpacks to.
    BoundedSource(ByteSource& inner, std::uint64_t compressed, const Limits& limits) : inner_(inner) {
        const bool large = compressed > limits.stream.count / limits.expansion;
        const std::uint64_t by_ratio = large ? limits.stream.count : compressed * limits.expansion;
        const std::uint64_t bound = std::max(by_ratio, limits.expansion_free.count);
        if (bound < limits.stream.count) {
            bound_ = Bytes{bound};
            key_ = "max_expansion";
        } else {
            bound_ = limits.stream;
            key_ = "max_stream";
        }
    }

    Result<std::size_t> read(std::span<char> buffer) override {
        TRY(const std::size_t got, inner_.read(buffer));
        TRY_OK(count(got));
        return got;
    }

    Result<std::uint64_t> skip(std::uint64_t wanted) override {
        TRY(const std::uint64_t skipped, inner_.skip(wanted));
        TRY_OK(count(skipped));
        return skipped;
    }

private:
    Result<> count(std::uint64_t more) {
        count_ += more;
        if (count_ <= bound_.count) return {};
        return make_error(ErrorCode::corrupt,
                          "its unpacked size exceeds the limit of " + to_string(bound_) + " (images." + key_ + ")",
                          std::string("it looks like a decompression bomb; if you trust it, raise images.") + key_);
    }

    ByteSource& inner_;
    Bytes bound_{};
    const char* key_ = "";
    std::uint64_t count_ = 0;
};

}  // namespace coracle::layer

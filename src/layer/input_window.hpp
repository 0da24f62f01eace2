// The compressed bytes that a decompressor has not consumed yet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/try.hpp"
#include "layer/byte_source.hpp"

namespace coracle::layer {

class InputWindow {
public:
    explicit InputWindow(ByteSource& source) : source_(source), buffer_(std::size_t{1} << 17U) {}

    std::span<const char> unread() const { return {buffer_.data() + begin_, end_ - begin_}; }
    void consume(std::size_t count) { begin_ += count; }
    bool at_end() const { return ended_ && begin_ == end_; }

    // Makes at least `wanted` bytes unread, fewer only at the end of the source.
    Result<> fill(std::size_t wanted = 1) {
        if (end_ - begin_ < wanted && begin_ > 0) {
            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
            end_ -= begin_;
            begin_ = 0;
        }
        while (end_ - begin_ < wanted && !ended_) {
            TRY(const std::size_t got, source_.read(std::span(buffer_).subspan(end_)));
            ended_ = got == 0;
            end_ += got;
        }
        return {};
    }

private:
    ByteSource& source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool ended_ = false;
};

}  // namespace coracle::layer

// Decompresses xz: all streams, checks verified, memory bounded.
#include <lzma.h>

#include "layer/codecs.hpp"

namespace coracle::layer {

namespace {

const char* words_for(lzma_ret outcome) {
    switch (outcome) {
        case LZMA_MEMLIMIT_ERROR: return "its dictionary exceeds the limit of memory (images.max_decoder_memory)";
        case LZMA_BUF_ERROR: return "the stream is truncated";
        case LZMA_MEM_ERROR: return "no memory for the decompressor";
        default: return "damaged";
    }
}

class XzSource final : public ByteSource {
public:
    explicit XzSource(std::unique_ptr<InputWindow> input) : input_(std::move(input)) {}
    ~XzSource() override { ::lzma_end(&state_); }

    Result<> start(Bytes memory) {
        // The dictionary and a little more; one of 4 GiB is a bomb.
        const std::uint64_t bound = memory.count + (std::uint64_t{1} << 20U);
        const lzma_ret outcome = ::lzma_stream_decoder(&state_, bound, LZMA_CONCATENATED);
        if (outcome == LZMA_OK) return {};
        return make_error(ErrorCode::unavailable, std::string("xz: ") + words_for(outcome));
    }

    Result<std::size_t> read(std::span<char> buffer) override {
        state_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
        state_.avail_out = buffer.size();
        while (state_.avail_out == buffer.size() && !buffer.empty() && !ended_) TRY_OK(step());
        return buffer.size() - state_.avail_out;
    }

private:
    Result<> step() {
        TRY_OK(input_->fill());
        const auto unread = input_->unread();
        state_.next_in = reinterpret_cast<const std::uint8_t*>(unread.data());
        state_.avail_in = unread.size();
        const lzma_ret outcome = ::lzma_code(&state_, input_->at_end() ? LZMA_FINISH : LZMA_RUN);
        input_->consume(unread.size() - state_.avail_in);
        ended_ = outcome == LZMA_STREAM_END;
        if (ended_ || outcome == LZMA_OK) return {};
        return make_error(ErrorCode::corrupt, std::string("xz: ") + words_for(outcome));
    }

    std::unique_ptr<InputWindow> input_;
    lzma_stream state_ = LZMA_STREAM_INIT;
    bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<InputWindow> input, Bytes memory) {
    auto source = std::make_unique<XzSource>(std::move(input));
    TRY_OK(source->start(memory));
    return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace coracle::layer

// Decompresses zstd: all frames, checksums verified where the frames carry them.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>

#include "layer/codecs.hpp"

namespace coracle::layer {

namespace {

struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
};

class ZstdSource final : public ByteSource {
public:
    ZstdSource(std::unique_ptr<InputWindow> input, std::unique_ptr<ZSTD_DStream, FreeStream> stream)
        : input_(std::move(input)), stream_(std::move(stream)) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
        while (out.pos == 0 && !buffer.empty()) {
            TRY_OK(input_->fill());
            if (input_->at_end() && between_frames_) return std::size_t{0};
            const bool no_input = input_->at_end();
            TRY_OK(step(out));
            if (no_input && out.pos == 0 && !between_frames_) {
                return make_error(ErrorCode::corrupt, "zstd: the stream is truncated");
            }
        }
        return out.pos;
    }

private:
    Result<> step(ZSTD_outBuffer& out) {
        const auto unread = input_->unread();
        ZSTD_inBuffer in{unread.data(), unread.size(), 0};
        const std::size_t outcome = ::ZSTD_decompressStream(stream_.get(), &out, &in);
        input_->consume(in.pos);
        if (::ZSTD_getErrorCode(outcome) == ZSTD_error_frameParameter_windowTooLarge) {
            return make_error(ErrorCode::corrupt,
                              "zstd: its window exceeds the limit of memory (images.max_decoder_memory)");
        }
        if (::ZSTD_isError(outcome) != 0) {
            return make_error(ErrorCode::corrupt, std::string("zstd: ") + ::ZSTD_getErrorName(outcome));
        }
        between_frames_ = outcome == 0;
        return {};
    }

    std::unique_ptr<InputWindow> input_;
    std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
    bool between_frames_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<InputWindow> input, Bytes memory) {
    std::unique_ptr<ZSTD_DStream, FreeStream> stream(::ZSTD_createDStream());
    if (!stream) return make_error(ErrorCode::unavailable, "zstd: no memory for the decompressor");
    const int log = static_cast<int>(std::bit_width(memory.count)) - 1;
    if (::ZSTD_isError(::ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, std::clamp(log, 10, 30))) != 0) {
        return make_error(ErrorCode::internal, "zstd: the window cannot be bounded");
    }
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(input), std::move(stream)));
}

}  // namespace coracle::layer

// Decompresses gzip with zlib: all members, checksum and length of each verified.
#include <zlib.h>

#include "layer/codecs.hpp"

namespace coracle::layer {

namespace {

constexpr int gzip_only = 16 + MAX_WBITS;

class GzipSource final : public ByteSource {
public:
    explicit GzipSource(std::unique_ptr<InputWindow> input) : input_(std::move(input)) {}
    ~GzipSource() override { ::inflateEnd(&state_); }

    Result<> start() {
        if (::inflateInit2(&state_, gzip_only) == Z_OK) return {};
        return make_error(ErrorCode::unavailable, "gzip: no memory for the decompressor");
    }

    Result<std::size_t> read(std::span<char> buffer) override {
        state_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        state_.avail_out = static_cast<uInt>(buffer.size());
        while (state_.avail_out == buffer.size() && !buffer.empty()) {
            TRY_OK(input_->fill());
            if (input_->at_end()) {
                if (between_members_) return std::size_t{0};
                return make_error(ErrorCode::corrupt, "gzip: the stream is truncated");
            }
            TRY_OK(step());
        }
        return buffer.size() - state_.avail_out;
    }

private:
    Result<> step() {
        const auto unread = input_->unread();
        state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(unread.data()));
        state_.avail_in = static_cast<uInt>(unread.size());
        between_members_ = false;
        const int outcome = ::inflate(&state_, Z_NO_FLUSH);
        input_->consume(unread.size() - state_.avail_in);
        if (outcome == Z_STREAM_END) {
            between_members_ = true;
            ::inflateReset(&state_);
            return {};
        }
        if (outcome == Z_OK || outcome == Z_BUF_ERROR) return {};
        return make_error(ErrorCode::corrupt, std::string("gzip: ") + (state_.msg != nullptr ? state_.msg : "damaged"));
    }

    std::unique_ptr<InputWindow> input_;
    z_stream state_{};
    bool between_members_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<InputWindow> input) {
    auto source = std::make_unique<GzipSource>(std::move(input));
    TRY_OK(source->start());
    return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace coracle::layer

// Decompresses gzip with ISA-L, which is faster than zlib: all members, checksum and length of each verified.
// Debian has ISA-L as a shared library only; linked here, this make_gzip_source takes the place of the one with zlib.
#include <isa-l/igzip_lib.h>

#include "layer/codecs.hpp"

namespace coracle::layer {

namespace {

const char* words_for(int outcome) {
    switch (outcome) {
        case ISAL_INVALID_WRAPPER: return "gzip: something else follows where a member should begin";
        case ISAL_UNSUPPORTED_METHOD: return "gzip: unknown compression method";
        case ISAL_INCORRECT_CHECKSUM: return "gzip: incorrect checksum";
        default: return "gzip: damaged";
    }
}

class IsalSource final : public ByteSource {
public:
    explicit IsalSource(std::unique_ptr<InputWindow> input) : input_(std::move(input)) {
        ::isal_inflate_init(state_.get());
        state_->crc_flag = ISAL_GZIP;
    }

    Result<std::size_t> read(std::span<char> buffer) override {
        state_->next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
        state_->avail_out = static_cast<std::uint32_t>(buffer.size());
        while (state_->avail_out == buffer.size() && !buffer.empty()) {
            TRY_OK(input_->fill());
            // At the end, what the decoder still holds back may come without more input.
            const bool at_end = input_->at_end();
            if (at_end && between_members_) return std::size_t{0};
            TRY_OK(step());
            if (at_end && state_->avail_out == buffer.size() && !between_members_) {
                return make_error(ErrorCode::corrupt, "gzip: the stream is truncated");
            }
        }
        return buffer.size() - state_->avail_out;
    }

private:
    Result<> step() {
        const auto unread = input_->unread();
        state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(unread.data()));
        state_->avail_in = static_cast<std::uint32_t>(unread.size());
        between_members_ = false;
        const int outcome = ::isal_inflate(state_.get());
        input_->consume(unread.size() - state_->avail_in);
        if (outcome < 0) return make_error(ErrorCode::corrupt, words_for(outcome));
        if (state_->block_state != ISAL_BLOCK_FINISH) return {};
        between_members_ = true;
        ::isal_inflate_reset(state_.get());
        return {};
    }

    std::unique_ptr<InputWindow> input_;
    std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
    bool between_members_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<InputWindow> input) {
    return std::unique_ptr<ByteSource>(std::make_unique<IsalSource>(std::move(input)));
}

}  // namespace coracle::layer

// Implements the choice of the decompressor by the first bytes.
#include "layer/decoder.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "layer/codecs.hpp"

namespace coracle::layer {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view gzip_magic = "\x1f\x8b"sv;
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd"sv;
constexpr std::string_view xz_magic =
    "\xfd"
    "7zXZ\0"sv;

struct Unsupported {
    std::string_view magic;
    const char* name;
};
constexpr std::array unsupported{Unsupported{"BZh"sv, "bzip2"}, Unsupported{"\x1f\x9d"sv, "compress"},
                                 Unsupported{"LZIP"sv, "lzip"}, Unsupported{"\x04\x22\x4d\x18"sv, "lz4"}};

// zstd may begin with a skippable frame (RFC 8878, 3.1.2): 0x184D2A50 to 0x184D2A5F, little-endian.
bool is_skippable_frame(std::string_view head) {
    return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50 &&
           head.substr(1, 3) == "\x2a\x4d\x18"sv;
}

class PlainSource final : public ByteSource {
public:
    explicit PlainSource(std::unique_ptr<InputWindow> input) : input_(std::move(input)) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        TRY_OK(input_->fill());
        const auto unread = input_->unread();
        const std::size_t count = std::min(buffer.size(), unread.size());
        std::copy_n(unread.begin(), count, buffer.begin());
        input_->consume(count);
        return count;
    }

private:
    std::unique_ptr<InputWindow> input_;
};

Decoder decoded(Compression compression, std::unique_ptr<ByteSource> source) {
    return Decoder{compression, std::move(source)};
}

}  // namespace

Result<Decoder> make_decoder(ByteSource& compressed, Bytes memory) {
    auto input = std::make_unique<InputWindow>(compressed);
    TRY_OK(input->fill(8));
    const std::string_view head(input->unread().data(), input->unread().size());
    for (const Unsupported& format : unsupported) {
        if (!head.starts_with(format.magic)) continue;
        return make_error(ErrorCode::unsupported, std::string("compressed with ") + format.name,
                          "compress it with gzip or zstd, or leave it plain");
    }
    if (head.starts_with(gzip_magic)) {
        TRY(auto source, make_gzip_source(std::move(input)));
        return decoded(Compression::gzip, std::move(source));
    }
    if (head.starts_with(zstd_magic) || is_skippable_frame(head)) {
        TRY(auto source, make_zstd_source(std::move(input), memory));
        return decoded(Compression::zstd, std::move(source));
    }
    if (head.starts_with(xz_magic)) {
        TRY(auto source, make_xz_source(std::move(input), memory));
        return decoded(Compression::xz, std::move(source));
    }
    return decoded(Compression::none, std::make_unique<PlainSource>(std::move(input)));
}

}  // namespace coracle::layer

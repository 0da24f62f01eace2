// Compressions are told apart by content, and damage is found.
#include "layer/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/try.hpp"
#include "support/tar_builder.hpp"
#include "support/test_dir.hpp"

namespace coracle::layer {
namespace {

using test::must;
using test::must_fail;
using ::testing::HasSubstr;

// Gives a text in pieces of a few bytes, as a slow pipe would.
class TextSource final : public ByteSource {
public:
    explicit TextSource(std::string text, std::size_t piece = 7) : text_(std::move(text)), piece_(piece) {}
    Result<std::size_t> read(std::span<char> buffer) override {
        const std::size_t count = std::min({buffer.size(), piece_, text_.size() - at_});
        std::memcpy(buffer.data(), text_.data() + at_, count);
        at_ += count;
        return count;
    }

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
};

Result<std::string> decode(const std::string& stored, std::size_t piece = 7) {
    TextSource source(stored, piece);
    TRY(const Decoder decoder, make_decoder(source));
    std::string text;
    std::vector<char> buffer(1000);
    for (;;) {
        TRY(const std::size_t got, decoder.source->read(buffer));
        if (got == 0) return text;
        text.append(buffer.data(), got);
    }
}

Compression compression_of(const std::string& stored) {
    TextSource source(stored);
    return must(make_decoder(source)).compression;
}

std::string sample() {
    std::string text;
    for (int n = 0; n < 20'000; ++n) text += std::to_string(n * 7919) + "\n";
    return text;
}

TEST(Decoder, ReadsEveryCompressionByItsContent) {
    const std::string text = sample();
    for (const std::string& stored : {text, test::gzip(text), test::zstd(text), test::xz(text)}) {
        EXPECT_EQ(must(decode(stored, 1 << 16)), text);
    }
    EXPECT_EQ(compression_of(test::gzip(text)), Compression::gzip);
    EXPECT_EQ(compression_of(test::zstd(text)), Compression::zstd);
    EXPECT_EQ(compression_of(test::xz(text)), Compression::xz);
    EXPECT_EQ(compression_of(text), Compression::none);
    EXPECT_EQ(compression_of(""), Compression::none);
}

TEST(Decoder, DoesNotMindHowTheBytesArrive) {
    const std::string text = sample().substr(0, 5000);
    for (const std::string& stored : {text, test::gzip(text), test::zstd(text), test::xz(text)}) {
        for (const std::size_t piece : {1U, 3U, 4096U}) EXPECT_EQ(must(decode(stored, piece)), text);
    }
}

TEST(Decoder, ReadsAllMembersAndFrames) {
    EXPECT_EQ(must(decode(test::gzip("one ") + test::gzip("two"))), "one two");
    EXPECT_EQ(must(decode(test::zstd("one ") + test::zstd("two"))), "one two");
    EXPECT_EQ(must(decode(test::xz("one ") + test::xz("two"))), "one two");
}

TEST(Decoder, FindsTruncation) {
    const std::string text = sample();
    for (const std::string& stored : {test::gzip(text), test::zstd(text), test::xz(text)}) {
        for (const std::size_t missing : {1U, 4U, 100U}) {
            const auto error = must_fail(decode(stored.substr(0, stored.size() - missing), 4096));
            EXPECT_EQ(error.code, ErrorCode::corrupt);
            EXPECT_THAT(error.message, HasSubstr("truncated"));
        }
    }
}

TEST(Decoder, FindsDamage) {
    std::string stored = test::gzip(sample());
    stored[stored.size() - 6] = static_cast<char>(stored[stored.size() - 6] ^ 1);  // the checksum
    EXPECT_EQ(must_fail(decode(stored, 4096)).code, ErrorCode::corrupt);
    EXPECT_EQ(must_fail(decode(test::gzip("x") + "garbage")).code, ErrorCode::corrupt);
    std::string damaged = test::xz(sample());
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    EXPECT_EQ(must_fail(decode(damaged, 4096)).code, ErrorCode::corrupt);
}

TEST(Decoder, RefusesOtherCompressionsByName) {
    const auto error = must_fail(decode("BZh91AY&SY and so on"));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("bzip2"));
}

}  // namespace
}  // namespace coracle::layer

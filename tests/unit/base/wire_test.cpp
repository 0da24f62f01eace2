// What was packed is read back, and bytes that end too early are never taken for a value.
#include "base/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coracle::base {
namespace {

using ::testing::ElementsAre;

std::string packed() {
    WireWriter writer;
    writer.number(7).text(std::string("a\0b", 3)).texts({"x", "", "yz"}).number(~0ULL);
    return std::move(writer).take();
}

TEST(Wire, ReadsBackWhatWasWritten) {
    const std::string bytes = packed();
    WireReader reader(bytes);
    EXPECT_EQ(reader.number(), 7U);
    EXPECT_EQ(reader.text(), std::string("a\0b", 3));
    EXPECT_THAT(reader.texts(), ElementsAre("x", "", "yz"));
    EXPECT_EQ(reader.number(), ~0ULL);
    EXPECT_TRUE(reader.good());
}

TEST(Wire, IsNotGoodAtAnyPlaceOfAnEarlyEnd) {
    const std::string bytes = packed();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        WireReader reader(std::string_view(bytes).substr(0, size));
        reader.number();
        reader.text();
        reader.texts();
        reader.number();
        EXPECT_FALSE(reader.good()) << size;
    }
}

TEST(Wire, PastTheEndThereAreZerosAndEmptyTextsForEver) {
    WireReader reader("1234567");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_EQ(reader.text(), "");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_FALSE(reader.good());
}

TEST(Wire, ALengthBeyondTheBytesTakesNoMemory) {
    for (const std::uint64_t length : {std::uint64_t{9}, ~std::uint64_t{0}}) {
        const std::string bytes = std::move(WireWriter().number(length).number(0)).take();
        WireReader text(bytes);
        EXPECT_EQ(text.text(), "");
        EXPECT_FALSE(text.good());
        WireReader texts(bytes);
        EXPECT_LE(texts.texts().size(), 2U);
        EXPECT_FALSE(texts.good());
    }
}

}  // namespace
}  // namespace coracle::base

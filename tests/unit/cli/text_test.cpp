// Bytes of strangers on their way into JSON and onto terminals.
#include "cli/text.hpp"

#include <gtest/gtest.h>

namespace coracle::cli {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TakesEveryLengthAndRefusesWhatUnicodeRefuses) {
    for (const auto good :
         {""sv, "a\0b"sv, "\xC3\xA4"sv, "\xE2\x82\xAC"sv, "\xF0\x9F\x9B\xB6"sv, "\xF4\x8F\xBF\xBF"sv}) {
        EXPECT_TRUE(is_utf8(good)) << good;
    }
    for (const auto bad : {"\x80"sv, "\xC0\xAF"sv, "\xC3"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv,
                           "\xF8\x88\x80\x80\x80"sv, "\xE2\x82"sv, "\xFF"sv}) {
        EXPECT_FALSE(is_utf8(bad));
        EXPECT_TRUE(is_utf8(lossy_utf8(bad)));
    }
}

TEST(LossyUtf8, KeepsWhatIsTextAroundABadByte) {
    EXPECT_EQ(lossy_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
    EXPECT_EQ(lossy_utf8("gr\xC3\xBC\xC3"), "gr\xC3\xBC\xEF\xBF\xBD");
}

TEST(Printable, LeavesNothingThatMovesACursor) {
    EXPECT_EQ(printable("a\x1B[2Jb\rc\nd\te\x7F"), "a?[2Jb?c d e?");
    EXPECT_EQ(printable("\xC2\x9B"
                        "31m \xC3\xA4"),
              "?31m \xC3\xA4");
}

TEST(HumanSize, ChoosesTheUnit) {
    EXPECT_EQ(human_size(0), "0 B");
    EXPECT_EQ(human_size(1023), "1023 B");
    EXPECT_EQ(human_size(1536), "1.5 KiB");
    EXPECT_EQ(human_size(1ULL << 30U), "1.0 GiB");
    EXPECT_EQ(human_size(UINT64_MAX), "16777215.9 TiB");
}

}  // namespace
}  // namespace coracle::cli

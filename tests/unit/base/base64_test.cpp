// base64 there and back.
#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace coracle::base {
namespace {

using namespace std::string_view_literals;

TEST(Base64, MatchesTheVectorsOfRfc4648BothWays) {
    const std::pair<std::string_view, std::string_view> vectors[]{
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xFF\xFE\x00"sv, "//4A"}};
    for (const auto& [bytes, text] : vectors) {
        EXPECT_EQ(base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
}

TEST(Base64, MayLackItsPadding) {
    EXPECT_EQ(from_base64("Zg"), "f");
    EXPECT_EQ(from_base64("Zm8"), "fo");
}

TEST(Base64, RefusesWhatIsNone) {
    for (const char* text : {"Z", "Zm9vY", "Zm9v!", "Zm 9v", "Z===", "Zm8=Zm8=", "Zm-_"}) {
        EXPECT_FALSE(from_base64(text)) << text;
    }
}

}  // namespace
}  // namespace coracle::base

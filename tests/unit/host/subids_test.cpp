// A user's subordinate ids are the lines with its name or its number, and only those.
#include "host/subids.hpp"

#include <gtest/gtest.h>

namespace coracle::host {
namespace {

const std::string passwd = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001:::\n";

// "100000+65536 300000+1000"
std::string ranges(std::string_view subid, uid_t uid, std::string_view users = passwd) {
    std::string text;
    for (const SubRange& range : sub_ranges(subid, users, uid)) {
        text += (text.empty() ? "" : " ") + std::to_string(range.start) + "+" + std::to_string(range.count);
    }
    return text;
}

TEST(SubIds, AreTheLinesOfTheNameOrTheNumberInOrder) {
    const std::string text = "ann:100000:65536\nbob:165536:65536\n1000:300000:1000\n";
    EXPECT_EQ(ranges(text, 1000), "100000+65536 300000+1000");
    EXPECT_EQ(ranges(text, 1001), "165536+65536");
    EXPECT_EQ(ranges(text, 0), "");
}

TEST(SubIds, AUserWithoutAPasswdLineHasThoseOfItsNumber) {
    EXPECT_EQ(ranges("4711:100000:10\n:200000:10\n", 4711), "100000+10");
    EXPECT_EQ(ranges("1000:100000:10\n", 1000, ""), "100000+10");
}

TEST(SubIds, ANameThatBeginsAlikeIsAnother) { EXPECT_EQ(ranges("anna:1:2\nan:3:4\n10000:5:6\n100:7:8\n", 1000), ""); }

TEST(SubIds, LinesThatAreNoRangesAreLeftOut) {
    EXPECT_EQ(ranges("ann\nann:\nann:1\nann:x:5\nann:5:y\nann:5:0\nann:-1:5\nann:99999999999:5\nann:7:8:9\n\n", 1000),
              "");
    EXPECT_EQ(ranges("# ann:1:2\nann:5:6", 1000), "5+6");
}

}  // namespace
}  // namespace coracle::host

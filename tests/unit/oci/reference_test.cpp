// The spellings of image names.
#include "oci/reference.hpp"

#include <gtest/gtest.h>

#include "support/test_dir.hpp"

namespace coracle::oci {
namespace {

using test::must;

const std::string digest = "sha256:" + std::string(64, '0');

TEST(ParseReference, GivesEveryNameOneFullSpelling) {
    EXPECT_EQ(must(parse_reference("busybox")).str(), "busybox:latest");
    EXPECT_EQ(must(parse_reference("busybox:1.36")).str(), "busybox:1.36");
    EXPECT_EQ(must(parse_reference("team/app__x")).str(), "team/app__x:latest");
    EXPECT_EQ(must(parse_reference("localhost:5000/team/app:V_1")).str(), "localhost:5000/team/app:V_1");
    EXPECT_EQ(must(parse_reference("busybox:1@" + digest)).str(), "busybox@" + digest);
    EXPECT_EQ(must(parse_reference(digest)).str(), digest);
}

TEST(ParseReference, SpeaksFamiliarly) {
    EXPECT_EQ(must(parse_reference("busybox:latest")).familiar(), "busybox");
    EXPECT_EQ(must(parse_reference("busybox:1.36")).familiar(), "busybox:1.36");
}

TEST(ParseReference, RefusesWhatIsNoNameAndSaysHow) {
    for (const std::string& text :
         {std::string(), std::string("Busybox"), std::string("a b"), std::string("a:"), std::string("a@sha256:12"),
          std::string("../x"), std::string("/x"), std::string("x/"), std::string("a:b:c/d"), std::string("-a"),
          std::string("a___b"), std::string("a:") + std::string(129, 't'), std::string(256, 'n')}) {
        const auto reference = parse_reference(text);
        ASSERT_FALSE(reference) << text;
        EXPECT_EQ(reference.error().code, ErrorCode::invalid_request);
        EXPECT_FALSE(reference.error().hint.empty());
    }
}

TEST(ReferenceFrom, MakesAValidNameOfAnyFileName) {
    for (const char* text : {"My Image.v1", "..", "", "UPPER", "a--b", "caf\xc3\xa9", "-x-"}) {
        EXPECT_TRUE(parse_reference(reference_from(text).str())) << text;
    }
    EXPECT_EQ(reference_from("My Image.v1").str(), "my-image.v1:latest");
}

}  // namespace
}  // namespace coracle::oci

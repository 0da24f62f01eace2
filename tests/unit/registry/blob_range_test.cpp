// The answers to a request for the rest of a blob.
#include <gtest/gtest.h>

#include "registry/blob_source.hpp"

namespace coracle::registry {
namespace {

TEST(ContentRange, TheRestIsFromThePositionToTheEndOfTheWhole) {
    EXPECT_TRUE(is_rest_of("bytes 5-9/10", 5, 10));
    EXPECT_TRUE(is_rest_of("bytes 5-9/*", 5, 10));
}

TEST(ContentRange, EverythingElseIsNotTheRest) {
    for (const char* text :
         {"", "bytes", "bytes 0-9/10", "bytes 4-9/10", "bytes 5-8/10", "bytes 5-9/11", "bytes 5-10/10", "bytes */10",
          "items 5-9/10", "bytes 5-9", "bytes 5/9-10", "bytes -5-9/10", "bytes 5-9/99999999999999999999999"})
        EXPECT_FALSE(is_rest_of(text, 5, 10)) << text;
}

}  // namespace
}  // namespace coracle::registry

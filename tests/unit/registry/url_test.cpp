// Addresses that strangers choose: redirects and token servers.
#include "registry/url.hpp"

#include <gtest/gtest.h>

namespace coracle::registry {
namespace {

TEST(Url, TheOriginIsSchemeHostAndPort) {
    const auto url = parse_url("https://Registry.Example/v2/x?y=z");
    ASSERT_TRUE(url);
    EXPECT_EQ(url.value().origin, (Origin{"https", "registry.example", 443}));
    EXPECT_EQ(parse_url("https://registry.example:443/").value().origin, url.value().origin);
    EXPECT_NE(parse_url("https://registry.example:444/").value().origin, url.value().origin);
    EXPECT_NE(parse_url("http://registry.example:443/").value().origin, url.value().origin);
}

TEST(Url, TheAuthorityIsWhatReferencesAndCertsDirCallIt) {
    EXPECT_EQ(parse_url("https://registry.example/").value().origin.authority(), "registry.example");
    EXPECT_EQ(parse_url("http://localhost:5000/").value().origin.authority(), "localhost:5000");
    EXPECT_EQ(parse_url("http://localhost/").value().origin.authority(), "localhost");
}

TEST(Url, OnlyHttpAndHttpsWithoutUserAreTaken) {
    for (const char* text : {"file:///etc/passwd", "ftp://host/x", "https://user:pw@host/", "https://user@host/", "",
                             "https://", "host/path", "https://ho st/", "https://host/a\r\nX: y", "javascript:x"})
        EXPECT_FALSE(parse_url(text)) << text;
    EXPECT_FALSE(parse_url("https://host/" + std::string(20'000, 'a')));
}

TEST(Url, AHostIsMadeOfWhatNamesAndNumbersAreMadeOf) {
    for (const char* text : {"https://a%ff/", "https://a%2fb/", "https://a%40b/", "https://a*b/", "https://a,b/"})
        EXPECT_FALSE(parse_url(text)) << text;
    EXPECT_EQ(parse_url("https://%66oo_1.example/").value().origin.host, "foo_1.example");
    EXPECT_TRUE(parse_url("https://[::1]:5000/"));
}

TEST(Url, APasswordIsNotRepeatedInTheError) {
    EXPECT_EQ(parse_url("https://user:secret@host/").error().message.find("secret"), std::string::npos);
}

TEST(Url, ALocationIsRelativeToWhereItCameFrom) {
    const Url base = parse_url("https://host:5000/v2/app/blobs/x").value();
    EXPECT_EQ(resolve_url(base, "/other").value().text, "https://host:5000/other");
    EXPECT_EQ(resolve_url(base, "y").value().text, "https://host:5000/v2/app/blobs/y");
    EXPECT_EQ(resolve_url(base, "//evil.example/z").value().origin.host, "evil.example");
    EXPECT_EQ(resolve_url(base, "http://host:5000/z").value().origin.scheme, "http");
    EXPECT_FALSE(resolve_url(base, "file:///etc/passwd"));
    EXPECT_FALSE(resolve_url(base, "/a b"));
}

TEST(Url, ValuesOfQueriesAreEncoded) {
    EXPECT_EQ(encode_value("repository:a/b:pull"), "repository%3Aa%2Fb%3Apull");
    EXPECT_EQ(encode_value("p@ss:w\xc3\xb6rd&x=1"), "p%40ss%3Aw%C3%B6rd%26x%3D1");
}

}  // namespace
}  // namespace coracle::registry

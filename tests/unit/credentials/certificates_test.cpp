// The certificates of a registry are those in its own directory, and keys of authorities confuse nobody.
#include "credentials/certificates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/env_setting.hpp"
#include "support/test_dir.hpp"

namespace coracle::credentials {
namespace {

using test::EnvSetting;
using test::must;
using test::must_fail;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Certificates, AreAuthoritiesAndOneClientPair) {
    const test::TestDir dir;
    for (const char* name : {"b.crt", "a.crt", "ca.key", "me.cert", "me.key", "z.cert", "z.key", "notes.txt", ".crt"}) {
        dir.write("r.test:5000/" + std::string(name), "x");
    }
    const auto found = must(find_certificates({dir.path()}, "r.test:5000"));
    EXPECT_THAT(found.authorities, ElementsAre(dir / "r.test:5000/a.crt", dir / "r.test:5000/b.crt"));
    ASSERT_TRUE(found.client);
    EXPECT_EQ(found.client->certificate, dir / "r.test:5000/me.cert");
    EXPECT_EQ(found.client->key, dir / "r.test:5000/me.key");
}

TEST(Certificates, AKeyOfAnAuthorityIsNoClientKey) {
    const test::TestDir dir;
    dir.write("r.test/ca.crt", "x");
    dir.write("r.test/ca.key", "x");
    EXPECT_FALSE(must(find_certificates({dir.path()}, "r.test")).client);
}

TEST(Certificates, AClientCertificateNeedsItsKey) {
    const test::TestDir dir;
    dir.write("r.test/me.cert", "x");
    const Error error = must_fail(find_certificates({dir.path()}, "r.test"));
    EXPECT_EQ(error.code, ErrorCode::invalid_request);
    EXPECT_THAT(error.message, HasSubstr("me.cert"));
    EXPECT_THAT(error.hint, HasSubstr("me.key"));
}

TEST(Certificates, ComeFromTheFirstFolderThatKnowsTheHost) {
    const test::TestDir dir;
    dir.write("first/other.test/a.crt", "x");
    dir.write("second/r.test/b.crt", "x");
    dir.write("third/r.test/c.crt", "x");
    const auto found = must(find_certificates({dir / "none", dir / "first", dir / "second", dir / "third"}, "r.test"));
    EXPECT_THAT(found.authorities, ElementsAre(dir / "second/r.test/b.crt"));
}

TEST(Certificates, AHostIsOneNameAndNoPath) {
    const test::TestDir dir;
    dir.write("a/r.test/x.crt", "x");
    dir.write("x.crt", "x");
    for (const char* host : {"", ".", "..", "../a/r.test", "r.test/../..", "/etc"}) {
        EXPECT_THAT(must(find_certificates({dir / "a"}, host)).authorities, IsEmpty()) << host;
    }
}

TEST(CertificateFolders, AreTheConfiguredTheUsersAndTheHosts) {
    const EnvSetting config("XDG_CONFIG_HOME", "/c");
    EXPECT_THAT(find_certificate_folders("/mine"),
                ElementsAre("/mine", "/c/coracle/certs.d", "/c/containers/certs.d", "/etc/coracle/certs.d",
                            "/etc/containers/certs.d", "/etc/docker/certs.d"));
}

}  // namespace
}  // namespace coracle::credentials

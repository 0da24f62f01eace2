// Layers made to harm: whatever they try, a canary beside the tree stays as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/layer_kit.hpp"

namespace coracle::layer {
namespace {

using test::must;
using test::must_fail;
using test::read_text;
using test::TarBuilder;
using test::Tree;
using ::testing::HasSubstr;

class HostileLayer : public ::testing::Test {
protected:
    HostileLayer() {
        dir_.write("canary/victim", "victim");
        dir_.write("canary/dir/keep", "keep");
        before_ = canary();
    }
    void TearDown() override { EXPECT_EQ(canary(), before_) << "something escaped"; }

    // Names, modes, owners, links, times and bytes of everything in the canary.
    std::string canary() const {
        std::string text = describe(dir_ / "canary");
        for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_ / "canary")) {
            text += describe(entry.path());
        }
        return text;
    }
    static std::string describe(const std::filesystem::path& path) {
        struct stat status {};
        ::lstat(path.c_str(), &status);
        std::string text = path.string();
        for (const auto number : {static_cast<long>(status.st_mode), static_cast<long>(status.st_uid),
                                  static_cast<long>(status.st_nlink), status.st_mtim.tv_sec, status.st_mtim.tv_nsec}) {
            text += " " + std::to_string(number);
        }
        return text + (S_ISREG(status.st_mode) ? " " + read_text(path) : "") + "\n";
    }
    std::string target(const std::string& name = "") const { return (dir_ / "canary").string() + name; }
    std::string upwards(const std::string& name = "") const {
        std::string path;
        for (int n = 0; n < 24; ++n) path += "../";
        return path + target(name).substr(1);
    }

    // Accepted or refused: the canary decides.
    void try_layers(const std::vector<TarBuilder>& layers) {
        Tree tree(dir_ / "fs");
        for (const TarBuilder& tar : layers) {
            if (const auto added = tree.add(tar.finish()); !added) {
                EXPECT_EQ(added.error().code, ErrorCode::corrupt) << added.error().message;
                return;
            }
        }
        (void)tree.finish();
    }
    Error refuse(const std::string& tar, const Limits& limits = {}) {
        Tree tree(dir_ / "fs", limits);
        return must_fail(tree.add(tar, limits));
    }

    test::TestDir dir_;
    std::string before_;
};

TEST_F(HostileLayer, DotDotIsRefused) {
    EXPECT_THAT(refuse(TarBuilder().file(upwards("/dir/pwn")).finish()).message, HasSubstr("'..'"));
    EXPECT_THAT(refuse(TarBuilder().dir("../", 0777).finish()).message, HasSubstr("'..'"));
    EXPECT_THAT(refuse(TarBuilder().pax({{"path", upwards("/dir/pwn")}}).file("harmless").finish()).message,
                HasSubstr("'..'"));
}

TEST_F(HostileLayer, SymlinkedParentCannotLeadOutOfTheRoot) {
    try_layers({TarBuilder().symlink("esc", target("/dir")).file("esc/pwn")});
    try_layers({TarBuilder().symlink("esc", target("/dir")), TarBuilder().file("esc/pwn")});
    try_layers({TarBuilder().dir("d/").symlink("d/esc", upwards("/dir")).file("d/esc/pwn")});
}

TEST_F(HostileLayer, ALinkIsReplacedNeverWrittenThrough) {
    try_layers({TarBuilder().symlink("x", target("/victim")), TarBuilder().file("x", "new")});
    try_layers({TarBuilder().symlink("d", target("/dir")), TarBuilder().dir("d/", 0700).file("d/f")});
    try_layers({TarBuilder().symlink("x", target("/victim")).file("x", "new", {.mode = 0777, .uid = 7})});
}

TEST_F(HostileLayer, HardLinksStayInside) {
    try_layers({TarBuilder().hardlink("h", target("/victim")).file("h", "new")});
    try_layers({TarBuilder().hardlink("h", upwards("/victim"))});
    try_layers({TarBuilder().symlink("s", target()).hardlink("h", "s/victim").file("h", "new")});
    try_layers({TarBuilder().symlink("s", target("/victim")).hardlink("h", "s").file("h", "new")});
}

TEST_F(HostileLayer, HardLinksToDirectoriesAreRefused) {
    EXPECT_THAT(refuse(TarBuilder().dir("d/").hardlink("h", "d").finish()).message, HasSubstr("a directory"));
}

TEST_F(HostileLayer, AHardLinkCannotReplaceItsOwnTarget) {
    EXPECT_EQ(refuse(TarBuilder().file("a/b").hardlink("a", "a/b").finish()).code, ErrorCode::corrupt);
}

TEST_F(HostileLayer, WhiteoutsRemoveNothingOutside) {
    try_layers({TarBuilder().symlink("esc", target()),
                TarBuilder().file("esc/.wh.victim", "").file("esc/dir/.wh..wh..opq", "")});
    try_layers({TarBuilder().symlink("s", target("/dir")), TarBuilder().file(".wh.s", "")});
}

TEST_F(HostileLayer, WhiteoutsOfNothingSensibleAreRefused) {
    for (const char* name : {".wh.", ".wh..", ".wh...", "d/.wh.", "d/.wh...", ".wh.x/y"}) {
        EXPECT_THAT(refuse(TarBuilder().file(name, "").finish()).message, HasSubstr("whiteout")) << name;
    }
}

TEST_F(HostileLayer, LoopsOfLinksAreRefused) {
    EXPECT_THAT(refuse(TarBuilder().symlink("a", "b").symlink("b", "a").file("a/x").finish()).message,
                HasSubstr("loop"));
}

TEST_F(HostileLayer, WrongDigestsAreFound) {
    const std::string tar = TarBuilder().file("f").finish();
    const auto wrong = must(content::digest_of("something else"));
    Tree one(dir_ / "one");
    EXPECT_THAT(must_fail(one.add_as(wrong, test::gzip(tar), must(content::digest_of(tar)))).message,
                HasSubstr("its digest is"));
    Tree other(dir_ / "other");
    EXPECT_THAT(must_fail(other.add_as(must(content::digest_of(test::gzip(tar))), test::gzip(tar), wrong)).message,
                HasSubstr("its diff_id is"));
}

TEST_F(HostileLayer, DamagedTarsAreRefused) {
    EXPECT_EQ(refuse(TarBuilder().file("big", std::string(5000, 'x')).finish().substr(0, 2000)).code,
              ErrorCode::corrupt);
    EXPECT_EQ(refuse(std::string(2000, 'g')).code, ErrorCode::corrupt);
    EXPECT_EQ(refuse(TarBuilder().header("x", 'x', 14).content("999 path=evil\n").file("a").finish()).code,
              ErrorCode::corrupt);
    std::string bad_sum = TarBuilder().file("f").finish();
    bad_sum[150] = static_cast<char>(bad_sum[150] ^ 1);
    EXPECT_EQ(refuse(bad_sum).code, ErrorCode::corrupt);
}

TEST_F(HostileLayer, TruncatedGzipIsRefused) {
    const std::string tar = TarBuilder().file("f", std::string(3000, 'x')).finish();
    const std::string stored = test::gzip(tar);
    Tree tree(dir_ / "fs");
    EXPECT_THAT(must_fail(tree.add_stored(tar, stored.substr(0, stored.size() - 4))).message, HasSubstr("truncated"));
}

TEST_F(HostileLayer, EveryBoundNamesItself) {
    const TarBuilder files = TarBuilder().file("a").file("b").file("c");
    EXPECT_THAT(refuse(files.finish(), {.entries = 2}).message,
                HasSubstr("exceeds the limit of 2 (images.max_entries)"));
    EXPECT_THAT(refuse(TarBuilder().file("a", "12345").finish(), {.unpacked = Bytes{4}}).message,
                HasSubstr("images.max_unpacked"));
    EXPECT_THAT(refuse(files.finish(), {.stream = Bytes{1000}}).message,
                HasSubstr("limit of 1000 (images.max_stream)"));
    EXPECT_THAT(refuse(TarBuilder().file("a/b/c").finish(), {.path_bytes = 4}).message,
                HasSubstr("limit of 4 (images.max_path)"));
    EXPECT_THAT(refuse(TarBuilder().file("a/b/c").finish(), {.path_depth = 2}).message,
                HasSubstr("limit of 2 (images.max_path_depth)"));
    EXPECT_THAT(refuse(TarBuilder().file(std::string(99, 'a')).finish(), {.entries = 0}).message,
                HasSubstr("limit of 0"));
    EXPECT_THAT(
        refuse(TarBuilder().pax({{"SCHILY.xattr.user.a", "12345"}}).file("a").finish(), {.xattr = Bytes{4}}).message,
        HasSubstr("extended attribute exceeds the limit"));
    EXPECT_THAT(refuse(TarBuilder().pax({{"path", std::string(256, 'n')}}).file("a").finish()).message,
                HasSubstr("limit of 255 bytes"));
}

TEST_F(HostileLayer, HugeExtendedHeadersEndBeforeTheyAreRead) {
    const TarBuilder huge = TarBuilder().pax({{"comment", std::string(2'000'000, 'x')}}).file("a");
    EXPECT_THAT(refuse(huge.finish()).message, HasSubstr("extended header exceeds the limit of 1m"));
    const TarBuilder small = TarBuilder().file("a").gnu_long_name(std::string(200, 'n')).file("b");
    EXPECT_THAT(refuse(small.finish(), {.header = Bytes{100}}).message, HasSubstr("limit of 100"));
}

TEST_F(HostileLayer, NamesAreNotCutAtANulByte) {
    const auto evil =
        TarBuilder().file("a", std::string(1000, 'a')).pax({{"path", std::string("evil\0name", 9)}}).file("x");
    EXPECT_THAT(refuse(evil.finish()).message, HasSubstr("NUL"));
}

TEST_F(HostileLayer, ContentThatLooksLikeAHeaderIsContent) {
    const auto inner = TarBuilder().pax({{"path", std::string("evil\0name", 9)}}).file("x").finish();
    Tree tree(dir_ / "fs");
    must(tree.add(TarBuilder()
                      .file("a.tar", inner)
                      .pax({{"size", std::to_string(inner.size())}})
                      .header("b.tar", '0', 0)
                      .content(inner)
                      .dir("d/")
                      .file("f")
                      .finish()));
    EXPECT_EQ(read_text(tree / "b.tar"), inner);
}

TEST_F(HostileLayer, ABombEndsAtItsExpansion) {
    const std::string zeros(2'000'000, '\0');
    const Limits limits{.expansion = 10, .expansion_free = 1_MiB};
    EXPECT_THAT(refuse(TarBuilder().file("zeros", zeros).finish(), limits).message,
                HasSubstr("limit of 1m (images.max_expansion)"));
}

TEST_F(HostileLayer, ASparseTerabyteIsCountedInFull) {
    const auto tar = TarBuilder()
                         .pax({{"GNU.sparse.major", "1"},
                               {"GNU.sparse.minor", "0"},
                               {"GNU.sparse.name", "real"},
                               {"GNU.sparse.realsize", "1099511627776"}})
                         .header("GNUSparseFile.0/real", '0', 512)
                         .content("1\n1099511627776\n0\n");
    EXPECT_THAT(refuse(tar.finish()).message, HasSubstr("images.max_unpacked"));
}

TEST_F(HostileLayer, DeepTreesAreRefused) {
    std::string deep;
    for (int n = 0; n < 1000; ++n) deep += "d/";
    EXPECT_THAT(refuse(TarBuilder().pax({{"path", deep + "f"}}).file("short").finish()).message,
                HasSubstr("images.max_path_depth"));
    for (int n = 0; n < 2000; ++n) deep += "d/";
    EXPECT_THAT(refuse(TarBuilder().pax({{"path", deep + "f"}}).file("short").finish()).message,
                HasSubstr("images.max_path)"));
}

TEST_F(HostileLayer, NamesInMessagesCarryNoControlBytes) {
    EXPECT_THAT(refuse(TarBuilder().file("x\x1b[31m/../y").finish()).message, HasSubstr("x\\x1b[31m"));
}

}  // namespace
}  // namespace coracle::layer

// What a layer brings arrives as the layer says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>

#include "support/layer_kit.hpp"
#include "support/unprivileged.hpp"

namespace coracle::layer {
namespace {

using test::must;
using test::PaxRecords;
using test::read_text;
using test::TarBuilder;
using test::TestDir;
using test::Tree;

struct stat status_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
}

bool present(const std::filesystem::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

bool is_whiteout(const std::filesystem::path& path) {
    const auto status = status_of(path);
    return S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(0, 0);
}

bool is_opaque(const std::filesystem::path& path) {
    char value = 0;
    return ::lgetxattr(path.c_str(), xattr_name(Tree::mark()), &value, 1) == 1 && value == 'y';
}

// One layer, finished.
struct Applied {
    TestDir dir;
    Tree tree{dir / "fs"};
    explicit Applied(const TarBuilder& tar) {
        must(tree.add(tar.finish()));
        must(tree.finish());
    }
    std::filesystem::path operator/(const std::string& name) const { return tree / name; }
};

TEST(ApplyLayer, WritesFilesDirectoriesAndLinks) {
    const Applied layer(TarBuilder()
                            .dir("./")
                            .dir("d/", 0750)
                            .file("d/f", "hello", {.mode = 0640})
                            .symlink("l", "/d/f")
                            .hardlink("d/h", "/d/f"));
    EXPECT_EQ(read_text(layer / "d/f"), "hello");
    EXPECT_EQ(status_of(layer / "d/f").st_mode & 07777U, 0640U);
    EXPECT_EQ(status_of(layer / "d").st_mode & 07777U, 0750U);
    EXPECT_EQ(std::filesystem::read_symlink(layer / "l"), "/d/f");
    EXPECT_EQ(status_of(layer / "d/h").st_ino, status_of(layer / "d/f").st_ino);
}

TEST(ApplyLayer, KeepsSetIdAndStickyBits) {
    const Applied layer(
        TarBuilder().file("su", "x", {.mode = 04755}).file("sg", "x", {.mode = 02755}).dir("t/", 01777));
    EXPECT_EQ(status_of(layer / "su").st_mode & 07777U, 04755U);
    EXPECT_EQ(status_of(layer / "sg").st_mode & 07777U, 02755U);
    EXPECT_EQ(status_of(layer / "t").st_mode & 07777U, 01777U);
}

TEST(ApplyLayer, GivesDirectoriesTheirTimeAndModeAfterTheirContent) {
    const Applied layer(TarBuilder()
                            .pax({{"mtime", "1600000000.123456789"}})
                            .dir("locked/", 0)
                            .file("locked/f")
                            .dir("ro/", 0555)
                            .file("ro/f"));
    EXPECT_EQ(status_of(layer / "locked").st_mode & 07777U, 0U);
    EXPECT_EQ(status_of(layer / "locked").st_mtim.tv_sec, 1'600'000'000);
    EXPECT_EQ(status_of(layer / "locked").st_mtim.tv_nsec, 123'456'789);
    EXPECT_EQ(status_of(layer / "ro").st_mode & 07777U, 0555U);
    EXPECT_TRUE(present(layer / "ro/f"));
}

TEST(ApplyLayer, KeepsNanosecondsAndTimesBeforeTheEpoch) {
    const Applied layer(
        TarBuilder().pax({{"mtime", "1700000000.123456789"}}).file("a").pax({{"mtime", "-12345"}}).file("b"));
    EXPECT_EQ(status_of(layer / "a").st_mtim.tv_nsec, 123'456'789);
    EXPECT_EQ(status_of(layer / "b").st_mtim.tv_sec, -12'345);
}

TEST(ApplyLayer, TakesNamesAsBytesInEveryFormat) {
    const std::string latin1 = "caf\xe9-\xff\xfe";
    const std::string pax_name = std::string(200, 'x') + "/" + std::string(200, 'y');
    const std::string gnu_name = "L/" + std::string(150, 'g');
    const std::string utf8 = "\xc3\xbcn\xc3\xaf\xe4\xb8\xad";
    const Applied layer(TarBuilder()
                            .file(latin1, "1")
                            .file("new\nline", "2")
                            .file("..\\..\\x", "3")
                            .file(std::string(90, 'f'), "4", {.prefix = std::string(90, 'p')})
                            .pax({{"path", pax_name}})
                            .file("short", "5")
                            .gnu_long_name(gnu_name)
                            .file("short", "6")
                            .pax({{"path", utf8}})
                            .file("u", "7")
                            .pax({{"path", "bad-" + latin1}})
                            .file("u", "8"));
    EXPECT_EQ(read_text(layer / latin1), "1");
    EXPECT_EQ(read_text(layer / "new\nline"), "2");
    EXPECT_EQ(read_text(layer / "..\\..\\x"), "3");
    EXPECT_EQ(read_text(layer / (std::string(90, 'p') + "/" + std::string(90, 'f'))), "4");
    EXPECT_EQ(read_text(layer / pax_name), "5");
    EXPECT_EQ(read_text(layer / gnu_name), "6");
    EXPECT_EQ(read_text(layer / utf8), "7");
    EXPECT_EQ(read_text(layer / ("bad-" + latin1)), "8");
}

TEST(ApplyLayer, TakesAbsoluteAndDottedNamesAsRelativeToTheRoot) {
    const Applied layer(TarBuilder().file("/abs", "a").file("./x//y/./z", "z"));
    EXPECT_EQ(read_text(layer / "abs"), "a");
    EXPECT_EQ(read_text(layer / "x/y/z"), "z");
    EXPECT_EQ(status_of(layer / "x/y").st_mode & 07777U, 0755U) << "parents without an entry";
}

TEST(ApplyLayer, KeepsHolesInSparseFiles) {
    const std::string map = "2\n0\n512\n10485760\n512\n";
    const Applied layer(TarBuilder()
                            .pax({{"GNU.sparse.major", "1"},
                                  {"GNU.sparse.minor", "0"},
                                  {"GNU.sparse.name", "real"},
                                  {"GNU.sparse.realsize", "10486272"}})
                            .header("GNUSparseFile.0/real", '0', 1536)
                            .content(map)
                            .content(std::string(512, 'A'))
                            .content(std::string(512, 'B')));
    const auto status = status_of(layer / "real");
    EXPECT_EQ(status.st_size, 10'486'272);
    EXPECT_LT(status.st_blocks * 512, 1'000'000);
    EXPECT_EQ(read_text(layer / "real").substr(10'485'760, 512), std::string(512, 'B'));
}

TEST(ApplyLayer, KeepsUserXattrsAndDropsWhatSteersTheHost) {
    const Applied layer(TarBuilder()
                            .pax({{"SCHILY.xattr.user.mime", "text/plain"},
                                  {"SCHILY.xattr.user.overlay.opaque", "y"},
                                  {"SCHILY.xattr.trusted.overlay.opaque", "y"},
                                  {"SCHILY.xattr.trusted.overlay.redirect", "/etc"},
                                  {"SCHILY.xattr.security.evil", "1"}})
                            .dir("d/"));
    char value[32] = {};
    EXPECT_EQ(::lgetxattr((layer / "d").c_str(), "user.mime", value, sizeof value), 10);
    for (const char* name :
         {"user.overlay.opaque", "trusted.overlay.opaque", "trusted.overlay.redirect", "security.evil"}) {
        EXPECT_LT(::lgetxattr((layer / "d").c_str(), name, value, sizeof value), 0) << name;
    }
}

TEST(ApplyLayer, SetsFileCapabilitiesAndOwnersAsRoot) {
    const std::string capability("\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                                 20);
    const Applied layer(TarBuilder()
                            .pax({{"SCHILY.xattr.security.capability", capability}})
                            .file("ping", "x", {.mode = 0755, .uid = 1000, .gid = 50}));
    char value[32] = {};
    const bool root = ::geteuid() == 0;
    EXPECT_EQ(::lgetxattr((layer / "ping").c_str(), "security.capability", value, sizeof value), root ? 20 : -1);
    EXPECT_EQ(status_of(layer / "ping").st_uid, root ? 1000U : ::geteuid());
}

TEST(ApplyLayer, MakesFifosAndSkipsDevicesWithAWarning) {
    const Applied layer(
        TarBuilder().fifo("p").device("sda", '4', 8, 0).device("mem", '3', 1, 1).device("wh", '3', 0, 0));
    EXPECT_TRUE(S_ISFIFO(status_of(layer / "p").st_mode));
    for (const char* name : {"sda", "mem", "wh"}) EXPECT_FALSE(present(layer / name)) << name;
    EXPECT_EQ(layer.tree.warnings().size(), 3U);
}

TEST(ApplyLayer, LetsALaterEntryReplaceAnEarlierOne) {
    const Applied layer(TarBuilder()
                            .file("f", "old")
                            .file("f", "new")
                            .file("x", "f")
                            .dir("x/")
                            .file("x/y", "y")
                            .dir("z/")
                            .file("z/k", "k")
                            .file("z", "f")
                            .file("a", "old")
                            .hardlink("h", "a")
                            .file("h", "new"));
    EXPECT_EQ(read_text(layer / "f"), "new");
    EXPECT_EQ(read_text(layer / "x/y"), "y");
    EXPECT_EQ(read_text(layer / "z"), "f");
    EXPECT_EQ(read_text(layer / "a"), "old") << "the other name of a replaced file stays";
    EXPECT_EQ(read_text(layer / "h"), "new");
}

TEST(ApplyLayer, SurvivesAHardLinkToItself) {
    const Applied layer(TarBuilder().file("a", "kept").hardlink("a", "a"));
    EXPECT_EQ(read_text(layer / "a"), "kept");
}

TEST(ApplyLayer, ReadsPlainZstdXzAndManyMembers) {
    const std::string tar = TarBuilder().file("f", std::string(3000, 'f')).finish();
    for (const std::string& stored :
         {tar, test::zstd(tar), test::xz(tar), test::gzip(tar.substr(0, 700)) + test::gzip(tar.substr(700))}) {
        const TestDir dir;
        Tree tree(dir / "fs");
        must(tree.add_stored(tar, stored));
        EXPECT_EQ(read_text(tree / "f"), std::string(3000, 'f'));
    }
}

TEST(ApplyLayer, CountsWhatFollowsTheEndButDoesNotUnpackIt) {
    const TestDir dir;
    Tree tree(dir / "fs");
    must(tree.add(TarBuilder().file("f").finish() + TarBuilder().file("late").finish()));
    EXPECT_TRUE(present(tree / "f"));
    EXPECT_FALSE(present(tree / "late"));
}

TEST(ApplyLayer, TakesTheEmptyLayer) {
    const TestDir dir;
    Tree tree(dir / "fs");
    EXPECT_TRUE(tree.add(std::string(1024, '\0')));
}

TEST(OverlayWhiteouts, AreDevicesAndOpaqueMarks) {
    const Applied layer(TarBuilder().file(".wh.gone", "").dir("d/").file("d/.wh..wh..opq", "").file("d/new", "n"));
    EXPECT_TRUE(is_whiteout(layer / "gone"));
    EXPECT_TRUE(is_opaque(layer / "d"));
    EXPECT_FALSE(present(layer / "d/.wh..wh..opq"));
    EXPECT_FALSE(present(layer / ".wh.gone"));
}

TEST(OverlayWhiteouts, HideLowerLayersAndNothingOfTheirOwn) {
    const Applied layer(TarBuilder()
                            .file(".wh.first", "")
                            .dir("first/")
                            .file("first/f")
                            .dir("last/")
                            .file("last/f")
                            .file(".wh.last", "")
                            .file("file", "own")
                            .file(".wh.file", "")
                            .file(".wh.implied", "")
                            .file("implied/f"));
    for (const char* name : {"first", "last", "implied"}) {
        EXPECT_TRUE(is_opaque(layer / name)) << name;
        EXPECT_TRUE(present(layer / (std::string(name) + "/f"))) << name;
    }
    EXPECT_EQ(read_text(layer / "file"), "own");
}

// The mode of an entry must not keep its unprivileged owner from recording what belongs to it.
TEST(Apply, AnUnprivilegedOwnerRecordsAttributesOfWhatNobodyMayWrite) {
    const TestDir dir;
    const test::Unprivileged user(dir.path());
    const PaxRecords attribute{{"SCHILY.xattr.user.mime", "text/plain"}};
    Tree tree(dir / "tree");
    must(tree.add(TarBuilder()
                      .pax(attribute)
                      .file("file", "x", {.mode = 0400, .uid = 33, .gid = 34})
                      .pax(attribute)
                      .dir("locked/", 0)
                      .file("locked/f", "y")
                      .finish()));
    must(tree.finish());
    for (const char* name : {"file", "locked"}) {
        std::array<char, 16> value{};
        const ssize_t length = ::lgetxattr((tree / name).c_str(), "user.mime", value.data(), value.size());
        if (length < 0 && (errno == ENOTSUP || errno == EACCES)) continue;  // no such file system; may not be read
        EXPECT_EQ(length, 10) << name;
    }
    EXPECT_EQ(status_of(tree / "file").st_mode & 07777U, 0400U);
    EXPECT_EQ(status_of(tree / "locked").st_mode & 07777U, 0U);
    std::filesystem::permissions(tree / "locked", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace coracle::layer

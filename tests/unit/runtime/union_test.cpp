// The union by bind mounts shows what a read-only overlay of the same directories shows.
#include "runtime/keeper/union.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/mount_namespace.hpp"
#include "support/shown_tree.hpp"

namespace coracle::runtime::keeper {
namespace {

namespace fs = std::filesystem;

class Union : public ::testing::Test {
protected:
    std::string source(const char* name) { return (dir_ / name).string(); }
    void SetUp() override {
        dir_.write("top/etc/hosts", "ours");
        dir_.write("top/dev/null", "");
        dir_.write("image/etc/hosts", "image");
        dir_.write("image/etc/passwd", "root");
        dir_.write("image/usr/bin/tool", "binary");
        dir_.write("image/var/lib/data", "data");
        fs::create_symlink("usr/bin", dir_ / "image/bin");
        fs::create_symlink("nowhere", dir_ / "image/dev");
        fs::create_directories(dir_ / "skeleton/var/lib/volume");
        fs::create_directories(dir_ / "skeleton/bin/hidden");
        fs::create_directories(dir_ / "skeleton/workspace");
        fs::permissions(dir_ / "image/var", fs::perms::owner_all | fs::perms::sticky_bit);
        fs::permissions(dir_ / "image/etc/passwd", fs::perms::owner_read);
        (void)!::lchown((dir_ / "image/usr").c_str(), 1234, 1234);
        fs::create_directories(dir_ / "root");
        fs::create_directories(dir_ / "overlay");
    }
    test::TestDir dir_;
};

TEST_F(Union, ShowsWhatAnOverlayShowsAndNothingCanBeWritten) {
    if (::geteuid() != 0) GTEST_SKIP() << "mounting is root's";
    const auto status = test::in_mount_namespace([&] {
        const auto done = unite(source("root"), {source("top"), source("image"), source("skeleton")});
        if (!done) return 2;
        const std::string layers = "lowerdir=" + source("top") + ":" + source("image") + ":" + source("skeleton");
        if (::mount("overlay", source("overlay").c_str(), "overlay", MS_RDONLY, layers.c_str()) != 0) return 77;
        if (!test::show_the_same(dir_ / "root", dir_ / "overlay")) return 3;
        if (test::read_text(dir_ / "root/etc/hosts") != "ours") return 4;
        if (::truncate((dir_ / "root/usr/bin/tool").c_str(), 0) == 0) return 5;
        if (::truncate((dir_ / "root/etc/passwd").c_str(), 0) == 0) return 6;
        if (::mkdir((dir_ / "root/usr/new").c_str(), 0755) == 0) return 7;
        return 0;
    });
    if (!status) GTEST_SKIP() << "no mount namespace or overlayfs here";
    EXPECT_EQ(*status, 0);
}

TEST_F(Union, TellsWhichSourceIsMissing) {
    const auto done = unite(source("root"), {source("top"), source("elephant")});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("elephant"), std::string::npos);
}

}  // namespace
}  // namespace coracle::runtime::keeper

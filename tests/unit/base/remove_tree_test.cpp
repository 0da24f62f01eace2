// A tree is removed whatever its guest made of it, and nothing outside of it is touched.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/files.hpp"
#include "support/mount_namespace.hpp"
#include "support/test_dir.hpp"
#include "support/unprivileged.hpp"

namespace coracle::base {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::must_fail;
using test::read_text;

class RemoveTree : public ::testing::Test {
protected:
    bool gone(const char* name) const { return !exists_at(fd_.get(), name); }

    test::TestDir dir_;
    UniqueFd fd_ = must(open_dir(dir_.path()));
};

TEST_F(RemoveTree, FilesFoldersAndLinksGoAndTheNeighboursStay) {
    dir_.write("tree/a/b/c", "");
    dir_.write("tree/a/d", "");
    dir_.write("neighbour", "stays");
    fs::create_symlink("a", dir_ / "tree/link");
    must(remove_tree_at(fd_.get(), "tree"));
    EXPECT_TRUE(gone("tree"));
    EXPECT_EQ(read_text(dir_ / "neighbour"), "stays");
}

TEST_F(RemoveTree, ANameThatIsMissingIsSuccess) { must(remove_tree_at(fd_.get(), "none")); }

TEST_F(RemoveTree, ASingleFileAndAnEmptyFolderGo) {
    dir_.write("file", "");
    fs::create_directory(dir_ / "empty");
    must(remove_tree_at(fd_.get(), "file"));
    must(remove_tree_at(fd_.get(), "empty"));
    EXPECT_TRUE(gone("file") && gone("empty"));
}

TEST_F(RemoveTree, LinksAreRemovedAndNeverFollowed) {
    dir_.write("outside/kept", "kept");
    fs::create_directories(dir_ / "tree/deep/er");
    fs::create_directory_symlink(dir_ / "outside", dir_ / "tree/absolute");
    fs::create_directory_symlink("../../../outside", dir_ / "tree/deep/er/climbing");
    fs::create_directory_symlink(dir_ / "outside", dir_ / "top");
    must(remove_tree_at(fd_.get(), "tree"));
    must(remove_tree_at(fd_.get(), "top"));
    EXPECT_TRUE(gone("tree") && gone("top"));
    EXPECT_EQ(read_text(dir_ / "outside/kept"), "kept");
}

TEST_F(RemoveTree, ThreeThousandLevelsNeedNoDepth) {
    must(make_dir_at(fd_.get(), "deep"));
    UniqueFd at = must(open_dir_at(fd_.get(), "deep"));
    for (int level = 0; level < 3000; ++level) {
        must(make_dir_at(at.get(), "d"));
        at = must(open_dir_at(at.get(), "d"));
    }
    must(write_new_file_at(at.get(), "bottom", ""));
    at.reset();
    must(remove_tree_at(fd_.get(), "deep"));
    EXPECT_TRUE(gone("deep"));
}

TEST_F(RemoveTree, AGuestMayHaveTakenTheNamesThatTheRemovalUses) {
    dir_.write("tree/.doomed.0/x/y", "");
    dir_.write("tree/a/b/c/d", "");
    dir_.write("tree/a/.doomed.1/c/d", "");
    must(remove_tree_at(fd_.get(), "tree"));
    EXPECT_TRUE(gone("tree"));
}

TEST_F(RemoveTree, FoldersWithoutPermissionBitsGoForAnOrdinaryUserToo) {
    const test::Unprivileged user(dir_.path());
    dir_.write("tree/closed/inner/closed too/file", "");
    dir_.write("tree/unwritable/file", "");
    fs::permissions(dir_ / "tree/closed/inner/closed too", fs::perms::none);
    fs::permissions(dir_ / "tree/closed/inner", fs::perms::none);
    fs::permissions(dir_ / "tree/closed", fs::perms::none);
    fs::permissions(dir_ / "tree/unwritable", fs::perms::owner_read);
    fs::permissions(dir_ / "tree", fs::perms::none);
    must(remove_tree_at(fd_.get(), "tree"));
    EXPECT_TRUE(gone("tree"));
}

TEST_F(RemoveTree, WhatMayNotBeRemovedIsNamed) {
    dir_.write("parent/tree/file", "");
    fs::permissions(dir_ / "parent", fs::perms(0555));
    const test::Unprivileged user(dir_ / "parent/tree");
    const UniqueFd parent = must(open_dir(dir_ / "parent"));
    const Error error = must_fail(remove_tree_at(parent.get(), "tree"));
    EXPECT_EQ(error.code, ErrorCode::denied);
    EXPECT_THAT(error.message, ::testing::HasSubstr("'tree'"));
}

TEST_F(RemoveTree, AMountIsNotCrossedInAnyDepth) {
    dir_.write("outside/kept", "kept");
    fs::permissions(dir_ / "outside", fs::perms(0755));
    for (const char* at : {"tree", "tree/one", "tree/one/two", "tree/one/two/three"}) {
        fs::create_directories(dir_ / "tree/one/two/three");
        const auto status = test::in_mount_namespace([&] {
            if (::mount((dir_ / "outside").c_str(), (dir_ / at).c_str(), nullptr, MS_BIND, nullptr) != 0) return 2;
            // Opened here: the fixture's descriptor leads past what is mounted in this namespace.
            const UniqueFd here = must(open_dir(dir_.path()));
            return remove_tree_at(here.get(), "tree") ? 1 : 0;
        });
        if (!status) GTEST_SKIP() << "this account may not mount";
        EXPECT_EQ(status, 0) << at;
        EXPECT_EQ(read_text(dir_ / "outside/kept"), "kept") << at;
        struct stat info {};
        ASSERT_EQ(::stat((dir_ / "outside").c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777U, 0755U) << at;
    }
}

}  // namespace
}  // namespace coracle::base

// Files below a descriptor are read with a bound, found inside their root, and replaced whole or not at all.
#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "support/test_dir.hpp"

namespace coracle::base {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::must_fail;
using test::read_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Files : public ::testing::Test {
protected:
    test::TestDir dir_;
    UniqueFd fd_ = must(open_dir(dir_.path()));
};

TEST_F(Files, ReadUpToTheirBoundAndNotOneByteMore) {
    dir_.write("four", "1234");
    EXPECT_EQ(must(read_file_at(fd_.get(), "four", Bytes{4})), "1234");
    const Error error = must_fail(read_file_at(fd_.get(), "four", Bytes{3}));
    EXPECT_EQ(error.code, ErrorCode::corrupt);
    EXPECT_THAT(error.message, HasSubstr("'four'"));
}

TEST_F(Files, LargerThanOneReadComeWhole) {
    const std::string text(100'000, 'x');
    dir_.write("large", text);
    EXPECT_EQ(must(read_file_at(fd_.get(), "large", Bytes{100'000})), text);
    EXPECT_EQ(must_fail(read_file_at(fd_.get(), "large", Bytes{99'999})).code, ErrorCode::corrupt);
}

TEST_F(Files, ThatAreMissingAreNotFoundByName) {
    const Error error = must_fail(read_file(dir_ / "none", 1_KiB));
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_EQ(error.os_errno, ENOENT);
    EXPECT_THAT(error.message, HasSubstr("none"));
}

TEST_F(Files, AFifoOrADirectoryInTheirPlaceIsAnErrorAndNeverBlocks) {
    ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
    fs::create_directory(dir_ / "folder");
    for (const char* name : {"fifo", "folder"}) {
        EXPECT_EQ(must_fail(open_regular_at(fd_.get(), name)).code, ErrorCode::corrupt) << name;
        EXPECT_EQ(must_fail(read_file_at(fd_.get(), name, 1_KiB)).code, ErrorCode::corrupt) << name;
    }
}

TEST_F(Files, DescriptorsAreClosedInOtherPrograms) {
    dir_.write("a", "");
    const std::array<UniqueFd, 4> fds{must(open_dir(dir_.path())), must(open_regular_at(fd_.get(), "a")),
                                      must(open_file_at(fd_.get(), "b", O_CREAT | O_RDWR, 0600)),
                                      must(open_in_root(fd_.get(), "/a", O_RDONLY))};
    for (const UniqueFd& fd : fds) EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(Files, OpenInRootKeepsLinksAndDotDotInside) {
    const test::TestDir outside;
    outside.write("secret", "outside");
    dir_.write("root/secret", "inside");
    dir_.write("root/sub/x", "");
    fs::create_symlink("/secret", dir_ / "root/absolute");
    fs::create_symlink("../../../../secret", dir_ / "root/sub/climbing");
    fs::create_symlink(outside / "secret", dir_ / "root/escape");
    const UniqueFd root = must(open_dir(dir_ / "root"));
    for (const char* path : {"secret", "/secret", "absolute", "sub/climbing", "../../secret", "sub/../../../secret"}) {
        const UniqueFd found = must(open_in_root(root.get(), path, O_RDONLY));
        EXPECT_EQ(must(read_all(found.get(), 1_KiB, path)), "inside") << path;
    }
    EXPECT_EQ(must_fail(open_in_root(root.get(), "escape", O_RDONLY)).code, ErrorCode::not_found);
}

TEST_F(Files, AMagicLinkOfProcOpensNothing) {
    const UniqueFd proc = must(open_dir("/proc"));
    EXPECT_EQ(must_fail(open_in_root(proc.get(), "self/root", O_RDONLY)).os_errno, ELOOP);
    EXPECT_EQ(must_fail(open_in_root(proc.get(), "self/cwd", O_RDONLY)).os_errno, ELOOP);
}

TEST_F(Files, ANewFileIsNewOrAnError) {
    must(write_new_file_at(fd_.get(), "a", "one", 0640));
    EXPECT_EQ(must_fail(write_new_file_at(fd_.get(), "a", "two")).os_errno, EEXIST);
    EXPECT_EQ(read_text(dir_ / "a"), "one");
    fs::create_symlink(dir_ / "elsewhere", dir_ / "link");
    EXPECT_EQ(must_fail(write_new_file_at(fd_.get(), "link", "two")).os_errno, EEXIST);
    EXPECT_FALSE(fs::exists(dir_ / "elsewhere"));
}

TEST_F(Files, AValueGoesToAFileThatIsThereAndMakesNone) {
    dir_.write("pids.max", "max\n");
    must(write_value_at(fd_.get(), "pids.max", "512"));
    EXPECT_EQ(read_text(dir_ / "pids.max"), "512\n");
    EXPECT_EQ(must_fail(write_value_at(fd_.get(), "none", "1")).code, ErrorCode::not_found);
    EXPECT_FALSE(fs::exists(dir_ / "none"));
    const UniqueFd dev = must(open_dir("/dev"));
    EXPECT_EQ(must_fail(write_value_at(dev.get(), "full", "1")).os_errno, ENOSPC);
}

TEST_F(Files, AReplacedFileIsTheOldOneOrTheNewOne) {
    dir_.write("a", "old");
    const UniqueFd reader = must(open_regular_at(fd_.get(), "a"));
    for (const Durability durability : {Durability::cache, Durability::disk}) {
        must(replace_file_at(fd_.get(), "a", "new", durability, 0600));
        EXPECT_EQ(read_text(dir_ / "a"), "new");
    }
    // Whoever had it open keeps the whole old text: it was not written over.
    EXPECT_EQ(must(read_all(reader.get(), 1_KiB, "a")), "old");
    EXPECT_THAT(must(list_dir(fd_.get())), ElementsAre("a"));
}

TEST_F(Files, AReplacementReplacesALinkAndNotWhatItPointsTo) {
    dir_.write("target", "old");
    fs::create_symlink("target", dir_ / "link");
    must(replace_file_at(fd_.get(), "link", "new", Durability::cache));
    EXPECT_EQ(read_text(dir_ / "target"), "old");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ / "link")));
}

TEST_F(Files, AReplacementThatFailsLeavesNoTemporaryFile) {
    dir_.write("taken/inside", "");
    const Error error = must_fail(replace_file_at(fd_.get(), "taken", "new", Durability::disk));
    EXPECT_THAT(error.message, HasSubstr("'taken'"));
    EXPECT_THAT(must(list_dir(fd_.get())), ElementsAre("taken"));
}

TEST_F(Files, DirectoriesAreMadeWithTheirParentsAndMayExist) {
    must(make_dirs(dir_ / "a/b/c", 0700));
    must(make_dirs(dir_ / "a/b/c"));
    must(make_dirs(dir_ / "a/b"));
    must(make_dir_at(fd_.get(), "a"));
    struct stat status {};
    ASSERT_EQ(::stat((dir_ / "a/b/c").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(Files, AFileInTheWayOfADirectoryIsAnError) {
    dir_.write("file", "");
    EXPECT_EQ(must_fail(make_dirs(dir_ / "file")).os_errno, EEXIST);
    EXPECT_EQ(must_fail(make_dirs(dir_ / "file/below")).os_errno, ENOTDIR);
}

TEST_F(Files, ListsNamesWithoutTheDotsAsOftenAsAsked) {
    dir_.write("a", "");
    dir_.write(".hidden", "");
    for (int time = 0; time < 2; ++time) EXPECT_THAT(must(list_dir(fd_.get())), UnorderedElementsAre("a", ".hidden"));
}

TEST_F(Files, ExistDoesNotFollowALink) {
    fs::create_symlink("nowhere", dir_ / "dangling");
    EXPECT_TRUE(exists_at(fd_.get(), "dangling"));
    EXPECT_FALSE(exists_at(fd_.get(), "nowhere"));
}

TEST(RandomHex, IsLongEnoughAndNeverTheSame) {
    EXPECT_EQ(random_hex(6).size(), 12U);
    EXPECT_EQ(random_hex(8).find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_NE(random_hex(8), random_hex(8));
}

TEST_F(Files, WriteAllReportsAPeerThatIsGone) {
    const UniqueFd full = must(open_file_at(AT_FDCWD, "/dev/full", O_WRONLY));
    const Error error = must_fail(write_all(full.get(), "text", "the log"));
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_THAT(error.message, HasSubstr("the log"));
}

}  // namespace
}  // namespace coracle::base

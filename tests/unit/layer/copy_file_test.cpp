// A copy has the bytes and the mode of its original, on whatever file system it lies.
#include "layer/copy_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.hpp"
#include "support/test_dir.hpp"

namespace coracle::layer {
namespace {

using test::must;

void copy_between(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& content) {
    must(base::write_all(must(base::open_file_at(AT_FDCWD, from.string(), O_WRONLY | O_CREAT | O_EXCL, 0640)).get(),
                         content, "original"));
    const base::UniqueFd folder = must(base::open_dir(from.parent_path()));
    const base::UniqueFd copy = must(base::open_file_at(AT_FDCWD, to.string(), O_RDWR | O_CREAT | O_EXCL, 0600));
    struct stat status {};
    ASSERT_EQ(::lstat(from.c_str(), &status), 0);
    must(copy_file(folder.get(), from.filename().string(), status, copy.get()));
    EXPECT_EQ(test::read_text(to), content);
    ASSERT_EQ(::fstat(copy.get(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST(CopyFile, CrossesFromOneKindOfFileSystemToAnother) {
    const test::TestDir dir;
    // A tmpfs everywhere; the kernel refuses to copy from it to another kind by itself (EXDEV).
    const auto memory = std::filesystem::path("/dev/shm") / dir.path().filename();
    std::filesystem::create_directory(memory);
    const std::string content = std::string(200'000, 'x') + "end";
    copy_between(memory / "a", dir / "a", content);
    copy_between(dir / "b", memory / "b", content);
    copy_between(dir / "c", dir / "d", content);
    std::filesystem::remove_all(memory);
}

}  // namespace
}  // namespace coracle::layer

// A lock says that its owner lives: held once, free when the owner is gone however it went.
#include "base/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <future>

#include "base/files.hpp"
#include "support/test_dir.hpp"

namespace coracle::base {
namespace {

using test::must;
using test::must_fail;

class Lock : public ::testing::Test {
protected:
    std::optional<FileLock> attempt() { return must(FileLock::try_acquire(fd_.get(), "lock")); }

    test::TestDir dir_;
    UniqueFd fd_ = must(open_dir(dir_.path()));
};

TEST_F(Lock, IsHeldOnceAndFreeAfterwards) {
    auto held = attempt();
    ASSERT_TRUE(held);
    EXPECT_FALSE(attempt());
    held.reset();
    EXPECT_TRUE(attempt());
}

TEST_F(Lock, ThatIsCreatedHeldIsHeldFromTheMomentItShows) {
    std::optional<FileLock> held = must(FileLock::create_held(fd_.get(), "lock"));
    EXPECT_TRUE(FileLock::is_held(fd_.get(), "lock"));
    EXPECT_FALSE(attempt());
    EXPECT_FALSE(exists_at(fd_.get(), "lock.new"));
    held.reset();
    EXPECT_FALSE(FileLock::is_held(fd_.get(), "lock"));
}

TEST_F(Lock, IsNotCreatedWhereOneStandsAlready) {
    dir_.write("lock", "");
    must_fail(FileLock::create_held(fd_.get(), "lock"));
    EXPECT_FALSE(FileLock::is_held(fd_.get(), "lock"));
}

TEST_F(Lock, AskingWhetherItIsHeldNeitherTakesNorMakesIt) {
    EXPECT_FALSE(FileLock::is_held(fd_.get(), "lock"));
    EXPECT_FALSE(exists_at(fd_.get(), "lock"));
    dir_.write("lock", "");
    EXPECT_FALSE(FileLock::is_held(fd_.get(), "lock"));
    EXPECT_TRUE(attempt());
}

TEST_F(Lock, MovesWithItsOwner) {
    auto first = attempt();
    ASSERT_TRUE(first);
    const FileLock second = std::move(*first);
    first.reset();
    EXPECT_FALSE(attempt());
}

TEST_F(Lock, OfAProcessThatWasKilledIsFree) {
    const auto ends = must([]() -> Result<std::pair<UniqueFd, UniqueFd>> {
        std::array<int, 2> fds{};
        if (::pipe(fds.data()) != 0) return os_error("pipe", errno);
        return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
    }());
    const pid_t child = ::fork();
    if (child == 0) {
        const auto mine = FileLock::try_acquire(fd_.get(), "lock");
        (void)write_all(ends.second.get(), mine && mine.value() ? "h" : "-", "pipe");
        for (;;) ::pause();
    }
    ASSERT_GT(child, 0);
    char word = 0;
    ASSERT_EQ(::read(ends.first.get(), &word, 1), 1);
    EXPECT_EQ(word, 'h');
    EXPECT_FALSE(attempt());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(attempt());
}

TEST_F(Lock, CanBeWaitedFor) {
    auto held = attempt();
    ASSERT_TRUE(held);
    auto waiting = std::async(std::launch::async, [&] { return FileLock::acquire(fd_.get(), "lock").has_value(); });
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    held.reset();
    EXPECT_TRUE(waiting.get());
}

TEST_F(Lock, DoesNotFollowALinkToAnotherFile) {
    std::filesystem::create_symlink(dir_ / "elsewhere", dir_ / "lock");
    EXPECT_EQ(must_fail(FileLock::try_acquire(fd_.get(), "lock")).os_errno, ELOOP);
    EXPECT_EQ(must_fail(FileLock::acquire(fd_.get(), "lock")).os_errno, ELOOP);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "elsewhere"));
}

TEST_F(Lock, InAFolderThatIsGoneIsAnError) {
    std::filesystem::remove(dir_.path());
    EXPECT_EQ(must_fail(FileLock::try_acquire(fd_.get(), "lock")).code, ErrorCode::not_found);
}

}  // namespace
}  // namespace coracle::base

// The memory of a tree of processes is added up, on processes of the test's own.
#include "supervisor/memory_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace coracle::supervisor {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A child that holds `bytes` of its own, with a child that does the same, until the test ends.
class Family {
public:
    explicit Family(std::size_t bytes) {
        EXPECT_EQ(::pipe(ready_), 0);
        parent_ = ::fork();
        if (parent_ == 0) {
            if (::fork() == 0) hold(bytes);
            hold(bytes);
        }
        char byte = 0;
        for (int each = 0; each < 2; ++each) EXPECT_EQ(::read(ready_[0], &byte, 1), 1);
    }
    ~Family() {
        for (const pid_t pid : process_tree(parent_)) ::kill(pid, SIGKILL);
        ::waitpid(parent_, nullptr, 0);
        ::close(ready_[0]);
        ::close(ready_[1]);
    }
    pid_t parent() const { return parent_; }

private:
    [[noreturn]] void hold(std::size_t bytes) const {
        void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        std::memset(memory, 1, bytes);
        (void)!::write(ready_[1], "x", 1);
        for (;;) ::pause();
    }
    int ready_[2]{};
    pid_t parent_ = -1;
};

constexpr Bytes each = 32_MiB;

TEST(MemorySample, CountsTheWholeTreeAndNothingElse) {
    const Family small(1);
    const Bytes shared = proportional(process_tree(small.parent()));  // with this program's own pages, many under ASan
    const Family family(each.count);
    const std::vector<pid_t> processes = process_tree(family.parent());
    EXPECT_EQ(processes.size(), 2U);
    EXPECT_THAT(processes, Contains(family.parent()));
    EXPECT_THAT(processes, Not(Contains(::getpid())));
    EXPECT_THAT(process_tree(::getpid()), Contains(family.parent()));
    EXPECT_GE(proportional(processes), Bytes{2 * each.count});
    EXPECT_LT(proportional(processes), Bytes{shared.count + 3 * each.count});
    EXPECT_GE(resident(processes), proportional(processes));
}

TEST(MemorySample, AProcessThatIsGoneHoldsNothing) {
    const pid_t gone = ::fork();
    if (gone == 0) ::_exit(0);
    ::waitpid(gone, nullptr, 0);
    EXPECT_EQ(proportional({gone}), Bytes{0});
    EXPECT_EQ(process_tree(gone).size(), 1U);
}

TEST(MemoryWatch, SaysWhenTheSumIsAboveTheLimitAndKeepsThePeak) {
    const Family family(each.count);
    MemoryWatch wide(family.parent(), 1_GiB);
    EXPECT_FALSE(wide.look());
    EXPECT_GE(wide.peak(), Bytes{2 * each.count});
    EXPECT_TRUE(MemoryWatch(family.parent(), Bytes{2 * each.count - 1}).look());
}

}  // namespace
}  // namespace coracle::supervisor

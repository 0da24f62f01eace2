// A short program is run to its end, and to no more than its bounds.
#include "base/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "base/files.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::base {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

ProgramCall shell(std::string script) {
    ProgramCall call;
    call.argv = {"sh", "-c", std::move(script)};
    return call;
}

TEST(Program, GetsItsInputAndGivesItsOutputAndStatus) {
    ProgramCall call = shell("cat; echo lost >&2; exit 3");
    call.input = "a\nb";
    const auto end = run_program(call);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->output, "a\nb");
    EXPECT_EQ(WEXITSTATUS(end->wait_status), 3);
    EXPECT_FALSE(end->succeeded());
}

TEST(Program, ThatReadsNothingIsNoHarm) {
    ProgramCall call = shell("exit 0");
    call.input = std::string(4096, 'x');
    EXPECT_TRUE(run_program(call)->succeeded());
}

TEST(Program, ThatIsMissingIsNotFound) {
    ProgramCall call;
    call.argv = {"no-such-program-here"};
    const auto end = run_program(call);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::not_found);
    EXPECT_THAT(end.error().message, HasSubstr("no-such-program-here"));
}

TEST(Program, ThatTakesTooLongIsKilledWithItsChildren) {
    const testing::ScratchDir dir;
    ProgramCall call = shell("(sleep 1; echo > " + (dir.path() / "late").string() + ") & sleep 60");
    call.patience = 100ms;
    const auto before = std::chrono::steady_clock::now();
    const auto end = run_program(call);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::unavailable);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
    call = shell("sleep 1.5");
    ASSERT_TRUE(run_program(call));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "late"));
}

TEST(Program, IsOverWhenItEndsThoughAChildHoldsItsOutput) {
    const auto before = std::chrono::steady_clock::now();
    const auto end = run_program(shell("sleep 60 & echo done"));
    ASSERT_TRUE(end);
    EXPECT_EQ(end->output, "done\n");
    EXPECT_LT(std::chrono::steady_clock::now() - before, 20s);
}

TEST(Program, ThatWritesWithoutEndIsStopped) {
    const auto end = run_program(shell("yes"));
    ASSERT_FALSE(end);
    EXPECT_THAT(end.error().message, HasSubstr("more than 64k"));
}

TEST(Program, HoldsNoDescriptorOfOursAndMayHaveNoEnvironment) {
    const int leaky = ::dup(1);  // not close-on-exec
    ProgramCall call = shell("ls /proc/self/fd | wc -l; env | grep -c HOME=");
    call.inherit_env = false;
    // 0, 1, 2 and the directory that ls reads.
    EXPECT_EQ(run_program(call)->output, "4\n0\n");
    ::close(leaky);
}

}  // namespace
}  // namespace coracle::base

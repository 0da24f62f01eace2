// A captured stream keeps its head up to the cap, counts all of it, and never waits.
#include "supervisor/capture.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/files.hpp"
#include "support/test_dir.hpp"

namespace coracle::supervisor {
namespace {

using test::must;

class Captured : public ::testing::Test {
protected:
    void write(std::string_view text) { must(base::write_all(pipe_.write.get(), text, "pipe")); }
    Capture capture(Bytes cap) { return {std::move(pipe_.read), cap}; }
    static void read_to_the_end(Capture& capture) {
        while (capture.fd() >= 0) capture.read_some();
    }

    OutputPipe pipe_ = must(make_output_pipe());
};

TEST_F(Captured, AllOfAStreamBelowTheCap) {
    Capture stream = capture(Bytes{11});
    write("hello ");
    stream.read_some();
    EXPECT_EQ(stream.total(), 6U);
    write("world");
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(stream.total(), 11U);
    EXPECT_FALSE(stream.truncated()) << "the cap itself is allowed";
    EXPECT_EQ(std::move(stream).take(), "hello world");
}

TEST_F(Captured, TheHeadOfAStreamAboveTheCap) {
    Capture stream = capture(Bytes{4});
    write("abc");
    stream.read_some();
    write("def");
    stream.read_some();
    write("ghi");
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(stream.total(), 9U);
    EXPECT_TRUE(stream.truncated());
    EXPECT_EQ(std::move(stream).take(), "abcd");
}

TEST_F(Captured, NothingWhereTheCapIsZeroButTheCount) {
    Capture stream = capture(Bytes{0});
    write("abc");
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(stream.total(), 3U);
    EXPECT_TRUE(stream.truncated());
    EXPECT_EQ(std::move(stream).take(), "");
}

TEST_F(Captured, EveryByteOfBinaryOutput) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    Capture stream = capture(1_KiB);
    write(bytes);
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(std::move(stream).take(), bytes);
}

TEST_F(Captured, MoreThanAPipeHolds) {
    Capture stream = capture(1_MiB);
    std::thread program([&] {
        write(std::string(3'000'000, 'x'));
        pipe_.write.reset();
    });
    read_to_the_end(stream);
    program.join();
    EXPECT_EQ(stream.total(), 3'000'000U);
    EXPECT_EQ(std::move(stream).take(), std::string(1U << 20U, 'x'));
}

TEST_F(Captured, ASilentStreamIsNotWaitedFor) {
    Capture stream = capture(1_KiB);
    stream.read_some();
    EXPECT_GE(stream.fd(), 0);
    EXPECT_EQ(stream.total(), 0U);
    EXPECT_FALSE(stream.truncated());
}

TEST_F(Captured, AStreamThatEndedHasNoDescriptor) {
    Capture stream = capture(1_KiB);
    pipe_.write.reset();
    stream.read_some();
    EXPECT_EQ(stream.fd(), -1);
    stream.read_some();
    EXPECT_EQ(stream.total(), 0U);
}

TEST_F(Captured, AStreamCanBeGivenUp) {
    Capture stream = capture(1_KiB);
    write("kept");
    stream.read_some();
    stream.close();
    EXPECT_EQ(stream.fd(), -1);
    EXPECT_EQ(std::move(stream).take(), "kept");
}

TEST_F(Captured, ThePipesEndForTheProgramBlocksAndOursDoesNot) {
    EXPECT_NE(::fcntl(pipe_.read.get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::fcntl(pipe_.write.get(), F_GETFL) & O_NONBLOCK, 0);
    for (const int fd : {pipe_.read.get(), pipe_.write.get()}) EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace coracle::supervisor

// A captured stream keeps its beginning and end up to the cap, counts all of it, and never waits.
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
    Capture capture(Bytes cap, OutputExcess excess = OutputExcess::truncate) {
        return {std::move(pipe_.read), cap, excess};
    }
    static bool truncated(Capture& capture) { return std::move(capture).take().omitted_at.has_value(); }
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
    const Capture::Kept kept = std::move(stream).take();
    EXPECT_FALSE(kept.omitted_at) << "the cap itself is allowed";
    EXPECT_EQ(kept.data, "hello world");
}

TEST_F(Captured, TheBeginningAndTheEndOfAStreamAboveTheCap) {
    for (const std::size_t step : {1U, 2U, 3U, 7U, 26U}) {
        pipe_ = must(make_output_pipe());
        Capture stream = capture(Bytes{5});
        const std::string letters = "abcdefghijklmnopqrstuvwxyz";
        for (std::size_t at = 0; at < letters.size(); at += step) {
            write(letters.substr(at, step));
            stream.read_some();
        }
        EXPECT_EQ(stream.total(), 26U);
        EXPECT_FALSE(stream.must_end());
        const Capture::Kept kept = std::move(stream).take();
        EXPECT_EQ(kept.data, "abcyz") << step;
        EXPECT_EQ(kept.omitted_at, 3U);
    }
}

TEST_F(Captured, OnlyTheBeginningWhereTheRunMustEnd) {
    Capture stream = capture(Bytes{4}, OutputExcess::kill);
    write("abcd");
    stream.read_some();
    EXPECT_FALSE(stream.must_end()) << "the cap itself is allowed";
    write("e");
    stream.read_some();
    EXPECT_TRUE(stream.must_end());
    const Capture::Kept kept = std::move(stream).take();
    EXPECT_EQ(kept.data, "abcd");
    EXPECT_EQ(kept.omitted_at, 4U);
}

TEST_F(Captured, NothingButTheCountOfADiscardedStream) {
    Capture stream = capture(1_KiB, OutputExcess::discard);
    write("abc");
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(stream.total(), 3U);
    EXPECT_FALSE(stream.must_end());
    const Capture::Kept kept = std::move(stream).take();
    EXPECT_EQ(kept.data, "");
    EXPECT_EQ(kept.omitted_at, 0U);
}

TEST_F(Captured, EveryByteOfBinaryOutput) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    Capture stream = capture(1_KiB);
    write(bytes);
    pipe_.write.reset();
    read_to_the_end(stream);
    EXPECT_EQ(std::move(stream).take().data, bytes);
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
    EXPECT_EQ(std::move(stream).take().data, std::string(1U << 20U, 'x'));
}

TEST_F(Captured, ASilentStreamIsNotWaitedFor) {
    Capture stream = capture(1_KiB);
    stream.read_some();
    EXPECT_GE(stream.fd(), 0);
    EXPECT_EQ(stream.total(), 0U);
    EXPECT_FALSE(truncated(stream));
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
    EXPECT_EQ(std::move(stream).take().data, "kept");
}

TEST_F(Captured, ThePipesEndForTheProgramBlocksAndOursDoesNot) {
    EXPECT_NE(::fcntl(pipe_.read.get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::fcntl(pipe_.write.get(), F_GETFL) & O_NONBLOCK, 0);
    for (const int fd : {pipe_.read.get(), pipe_.write.get()}) EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace coracle::supervisor

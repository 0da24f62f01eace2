// A counter is what the kernel's file says, and nothing where it says nothing.
#include "cgroup/counters.hpp"

#include <gtest/gtest.h>

#include "support/test_dir.hpp"

namespace coracle::cgroup {
namespace {

class Counters : public ::testing::Test {
protected:
    int fd() const { return fd_.get(); }

    test::TestDir dir_;
    base::UniqueFd fd_ = test::must(base::open_dir(dir_.path()));
};

TEST_F(Counters, ANumberIsTheFirstOfItsFile) {
    dir_.write("memory.peak", "1048576\n");
    dir_.write("zero", "0");
    dir_.write("largest", "18446744073709551615\n");
    EXPECT_EQ(read_number(fd(), "memory.peak"), 1048576U);
    EXPECT_EQ(read_number(fd(), "zero"), 0U);
    EXPECT_EQ(read_number(fd(), "largest"), ~0ULL);
}

TEST_F(Counters, WhatIsNoNumberIsNotZero) {
    for (const char* text : {"max\n", "", "\n", "-1\n", "18446744073709551616\n"}) {
        dir_.write("file", text);
        EXPECT_EQ(read_number(fd(), "file"), std::nullopt) << text;
    }
    EXPECT_EQ(read_number(fd(), "missing"), std::nullopt);
}

TEST_F(Counters, AKeyIsAWholeWordAtTheBeginningOfALine) {
    dir_.write("memory.events", "low 1\noom 2\noom_kill 3\noom_group_kill 4\n");
    EXPECT_EQ(read_keyed(fd(), "memory.events", "oom_kill"), 3U);
    EXPECT_EQ(read_keyed(fd(), "memory.events", "oom"), 2U);
    EXPECT_EQ(read_keyed(fd(), "memory.events", "oom_group"), std::nullopt);
    EXPECT_EQ(read_keyed(fd(), "memory.events", "kill"), std::nullopt);
    EXPECT_EQ(read_keyed(fd(), "missing", "oom"), std::nullopt);
}

TEST_F(Counters, IoIsTheSumOverTheDevices) {
    dir_.write("io.stat", "8:16 rbytes=1000 wbytes=20 rios=3\n8:0 rbytes=1 wbytes=2 rios=9 wios=8 dbytes=50\n7:0 \n");
    EXPECT_EQ(read_io_stat(fd(), "rbytes"), 1001U);
    EXPECT_EQ(read_io_stat(fd(), "wbytes"), 22U);
    dir_.write("blkio.throttle.io_service_bytes", "8:0 Read 10\n8:0 Write 5\n8:16 Read 7\n8:16 Total 22\nTotal 22\n");
    EXPECT_EQ(read_blkio(fd(), "Read"), 17U);
    EXPECT_EQ(read_blkio(fd(), "Write"), 5U);
}

TEST_F(Counters, NoIoSoFarIsZeroAndNoFileIsUnknown) {
    EXPECT_EQ(read_io_stat(fd(), "rbytes"), std::nullopt);
    EXPECT_EQ(read_blkio(fd(), "Read"), std::nullopt);
    dir_.write("io.stat", "");
    dir_.write("blkio.throttle.io_service_bytes", "Total 0\n");
    EXPECT_EQ(read_io_stat(fd(), "rbytes"), 0U);
    EXPECT_EQ(read_blkio(fd(), "Read"), 0U);
}

}  // namespace
}  // namespace coracle::cgroup

// A channel carries whole messages of any size with their descriptors, and knows a closed peer from a broken one.
#include "base/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "base/files.hpp"
#include "support/test_dir.hpp"

namespace coracle::base {
namespace {

using test::must;
using test::must_fail;

class Channels : public ::testing::Test {
protected:
    Message receive(Bytes bound = 64_MiB) {
        auto message = must(there_.receive(bound));
        EXPECT_TRUE(message.has_value());
        return message ? std::move(*message) : Message();
    }
    // What a broken peer writes: bytes without the channel's framing.
    void send_raw(const std::string& bytes) {
        ASSERT_EQ(::send(here_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    static std::string length(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

    std::pair<Channel, Channel> pair_ = must(Channel::make_pair());
    Channel& here_ = pair_.first;
    Channel& there_ = pair_.second;
};

TEST_F(Channels, KeepMessagesApartAndInOrder) {
    for (const std::string& text : {std::string("one"), std::string(), std::string("t\0o", 3)}) must(here_.send(text));
    EXPECT_EQ(receive().bytes, "one");
    EXPECT_EQ(receive().bytes, "");
    EXPECT_EQ(receive().bytes, std::string("t\0o", 3));
}

TEST_F(Channels, CarryMessagesThatNoSocketBufferHolds) {
    std::string text(8'000'000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 >> 3U);
    std::thread sender([&] { (void)here_.send(text); });
    const Message message = receive();
    sender.join();
    EXPECT_TRUE(message.bytes == text);
}

TEST_F(Channels, CarryDescriptorsThatAreClosedInOtherPrograms) {
    const test::TestDir dir;
    const UniqueFd one = must(open_dir(dir.path()));
    const UniqueFd two = must(open_regular_at(AT_FDCWD, dir.write("file", "content").string()));
    must(here_.send("with two", {one.get(), two.get()}));
    must(here_.send("with none"));
    const Message message = receive();
    ASSERT_EQ(message.fds.size(), 2U);
    for (const UniqueFd& fd : message.fds) EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(must(read_all(message.fds[1].get(), 1_KiB, "file")), "content");
    EXPECT_TRUE(receive().fds.empty());
}

TEST_F(Channels, CarryDescriptorsOnAMessageOfNoBytes) {
    must(here_.send("", {0}));
    EXPECT_EQ(receive().fds.size(), 1U);
}

TEST_F(Channels, RefuseMoreDescriptorsThanAMessageTakes) {
    EXPECT_EQ(must_fail(here_.send("nine", std::vector<int>(9, 0))).code, ErrorCode::internal);
    must(here_.send("eight", std::vector<int>(8, 0)));
    EXPECT_EQ(receive().fds.size(), 8U);
}

TEST_F(Channels, AClosedPeerIsTheEndAfterWhatItSaid) {
    must(here_.send("last words"));
    here_.close();
    EXPECT_EQ(receive().bytes, "last words");
    EXPECT_FALSE(must(there_.receive(1_KiB)).has_value());
}

TEST_F(Channels, SendingToAClosedPeerIsAnErrorAndNoSignal) {
    there_.close();
    EXPECT_EQ(must_fail(here_.send("hello?")).os_errno, EPIPE);
}

TEST_F(Channels, APeerThatDiedWithUnreadWordsIsTheEnd) {
    must(there_.send("never read"));
    here_.close();
    EXPECT_FALSE(must(there_.receive(1_KiB)).has_value());
}

TEST_F(Channels, AMessageAboveTheBoundIsRefusedBeforeItIsTaken) {
    must(here_.send("12345"));
    EXPECT_EQ(must_fail(there_.receive(Bytes{4})).code, ErrorCode::corrupt);
    send_raw(length(~0U));
    EXPECT_FALSE(there_.receive(64_MiB));
}

TEST_F(Channels, AMessageAtTheBoundIsTaken) {
    must(here_.send("12345"));
    EXPECT_EQ(receive(Bytes{5}).bytes, "12345");
}

TEST_F(Channels, APeerThatClosesInsideAMessageIsAnError) {
    send_raw(length(10) + "half");
    here_.close();
    EXPECT_EQ(must_fail(there_.receive(1_KiB)).code, ErrorCode::unavailable);
}

TEST_F(Channels, APeerThatClosesInsideTheLengthSaidNothing) {
    send_raw("\x01");
    here_.close();
    EXPECT_FALSE(must(there_.receive(1_KiB)).has_value());
}

TEST_F(Channels, ReleasedSocketsBelongToTheCaller) {
    const UniqueFd socket = std::move(here_).release();
    EXPECT_GE(socket.get(), 0);
    EXPECT_EQ(here_.fd(), -1);
}

}  // namespace
}  // namespace coracle::base

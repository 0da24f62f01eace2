// D-Bus messages are laid out as the specification says, and bytes that are none are refused.
#include "cgroup/dbus.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace coracle::cgroup::dbus {
namespace {

Message hello() {
    Message message;
    message.path = "/org/freedesktop/DBus";
    message.interface = "org.freedesktop.DBus";
    message.member = "Hello";
    message.destination = "org.freedesktop.DBus";
    return message;
}

Message failure() {
    Writer body;
    body.text("Access denied");
    Message message;
    message.kind = Kind::error;
    message.answers = 3;
    message.error_name = "org.freedesktop.DBus.Error.AccessDenied";
    message.signature = "s";
    message.body = std::move(body).take();
    return message;
}

// As busctl sends it: `busctl --user call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus Hello`.
TEST(Dbus, ACallIsLaidOutAsTheSpecificationSays) {
    if (std::endian::native != std::endian::little) GTEST_SKIP() << "the bytes below are little-endian";
    const std::string bytes = pack(hello(), 1);
    const std::string fields(
        "\x01\x01o\0\x15\0\0\0/org/freedesktop/DBus\0\0\0"
        "\x02\x01s\0\x14\0\0\0org.freedesktop.DBus\0\0\0\0"
        "\x03\x01s\0\x05\0\0\0Hello\0\0\0"
        "\x06\x01s\0\x14\0\0\0org.freedesktop.DBus\0",
        32 + 32 + 16 + 29);
    EXPECT_EQ(bytes, std::string("l\x01\0\x01\0\0\0\0\x01\0\0\0\x6d\0\0\0", 16) + fields + std::string(3, '\0'));
}

TEST(Dbus, ValuesAreAlignedAndArraysCountFromTheirFirstItem) {
    Writer writer;
    writer.byte(7).text("ab").array(8, [](Writer& items) { items.align(8).number64(1).align(8).number64(2); });
    const std::string bytes = std::move(writer).take();
    ASSERT_EQ(bytes.size(), 32U);
    Reader reader(bytes);
    EXPECT_EQ(reader.byte(), 7);
    EXPECT_EQ(reader.text(), "ab");
    EXPECT_EQ(reader.number(), 16U) << "the padding to the first item does not count";
    EXPECT_TRUE(reader.good());
    EXPECT_EQ(reader.at(), 16U);
}

TEST(Dbus, WhatWasPackedComesBack) {
    const std::string bytes = pack(failure(), 9);
    ASSERT_EQ(size_of(bytes.substr(0, head_size)), bytes.size());
    const auto message = unpack(bytes);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, Kind::error);
    EXPECT_EQ(message->answers, 3U);
    EXPECT_EQ(message->error_name, "org.freedesktop.DBus.Error.AccessDenied");
    EXPECT_EQ(message->signature, "s");
    EXPECT_EQ(Reader(message->body).text(), "Access denied");
    EXPECT_EQ(unpack(pack(hello(), 1))->member, "Hello");
}

TEST(Dbus, AMessageThatIsCutOrLongerOrChangedIsNone) {
    const std::string bytes = pack(failure(), 9);
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(unpack(bytes.substr(0, size))) << size;
    EXPECT_FALSE(unpack(bytes + '\0'));
    std::string other = bytes;
    other[1] = 9;
    EXPECT_FALSE(unpack(other)) << "no such kind";
    other = bytes;
    other[17] = 77;
    EXPECT_FALSE(unpack(other)) << "a signature that reaches beyond the message";
}

TEST(Dbus, AHeadThatPromisesTooMuchOrAnotherByteOrderIsNone) {
    std::string head = pack(hello(), 1).substr(0, head_size);
    EXPECT_TRUE(size_of(head));
    EXPECT_FALSE(size_of(head.substr(1)));
    head[6] = 1;  // a body of 64 KiB
    EXPECT_FALSE(size_of(head));
    head[0] = head[0] == 'l' ? 'B' : 'l';
    EXPECT_FALSE(size_of(head));
}

TEST(Dbus, ReadingBeyondTheEndYieldsNothingAndSaysSo) {
    Reader reader("\x01");
    EXPECT_EQ(reader.text(), "");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_FALSE(reader.good());
}

}  // namespace
}  // namespace coracle::cgroup::dbus

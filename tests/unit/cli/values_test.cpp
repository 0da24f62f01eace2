// The spellings of volumes, tmpfs, variables and lists, and those that are refused.
#include "cli/values.hpp"

#include <gtest/gtest.h>

namespace coracle::cli {
namespace {

Lookup no_variables() {
    return [](const std::string&) { return std::optional<std::string>(); };
}

Lookup home() {
    return
        [](const std::string& name) { return name == "HOME" ? std::optional<std::string>("/home/me") : std::nullopt; };
}

TEST(ParseVolume, IsWritableUnlessItSaysOtherwise) {
    const auto plain = parse_volume("./src:/work").value();
    EXPECT_EQ(plain.host, "./src");
    EXPECT_EQ(plain.guest, "/work");
    EXPECT_FALSE(plain.read_only);
    EXPECT_TRUE(parse_volume("/a:/b:ro").value().read_only);
    EXPECT_FALSE(parse_volume("/a:/b:rw").value().read_only);
    EXPECT_EQ(parse_volume("/a:/b//c/../d/").value().guest, "/b/d");
}

TEST(ParseVolume, RefusesWhatIsNoneAndNamesIt) {
    for (const char* text : {"", "/a", ":/b", "/a:", "/a:b", "/a:/", "/a:/x/..", "/a:/b:z", "/a:/b:ro:x", "/a:/b:"}) {
        const auto volume = parse_volume(text);
        ASSERT_FALSE(volume) << text;
        EXPECT_EQ(volume.error().code, ErrorCode::invalid_request) << text;
        EXPECT_FALSE(volume.error().hint.empty()) << text;
    }
    EXPECT_NE(parse_volume("/a:/b:z").error().message.find("'z'"), std::string::npos);
}

TEST(ParseIoMax, ReadsADeviceAndItsRates) {
    const auto rates = parse_io_max("8:0:rbps=1m,wiops=10").value();
    EXPECT_EQ(rates.device, "8:0");
    EXPECT_EQ(rates.rbps, 1048576U);
    EXPECT_EQ(rates.wiops, 10U);
    EXPECT_FALSE(rates.wbps || rates.riops);
    EXPECT_EQ(to_string(parse_io_max("/dev/sda:wbps=64k,riops=5").value()), "wbps=65536,riops=5");
}

TEST(ParseIoMax, RefusesWhatIsNone) {
    for (const char* text : {"", "/dev/sda", "/dev/sda:", ":rbps=1m", "/dev/sda:rbps", "/dev/sda:rbps=", "8:0",
                             "/dev/sda:bps=1m", "/dev/sda:rbps=1m,"}) {
        EXPECT_FALSE(parse_io_max(text)) << text;
    }
}

TEST(ParseTmpfs, ReadsSizeAndNoexec) {
    const auto plain = parse_tmpfs("/scratch").value();
    EXPECT_EQ(plain.guest, "/scratch");
    EXPECT_EQ(plain.size, 64_MiB);
    EXPECT_TRUE(plain.executable);
    const auto full = parse_tmpfs("/scratch:rw,nosuid,nodev,noexec,size=1g").value();
    EXPECT_EQ(full.size, 1_GiB);
    EXPECT_FALSE(full.executable);
    for (const char* text : {"", "scratch", "/", "/s:size=0", "/s:size=", "/s:mode=1777", "/s:", "/s:exec,"}) {
        EXPECT_FALSE(parse_tmpfs(text)) << text;
    }
}

TEST(ParseWords, TakeTheKnownOnesAndListThemOtherwise) {
    EXPECT_EQ(parse_network("host").value(), NetworkMode::host);
    EXPECT_EQ(parse_network("egress").value(), NetworkMode::egress);
    EXPECT_NE(parse_network("lan").error().hint.find("none, host, bridge, egress"), std::string::npos);
    EXPECT_EQ(parse_pull("never").value(), PullPolicy::never);
    EXPECT_FALSE(parse_pull("sometimes"));
    EXPECT_EQ(parse_required("memory,all").value(), (std::vector<std::string>{"memory", "all"}));
    for (const char* text : {"", "memory,", "disk", "memory, pids"}) EXPECT_FALSE(parse_required(text)) << text;
}

TEST(ParseCount, TakesWholeNumbersFromOneUp) {
    EXPECT_EQ(parse_count("64").value(), 64U);
    for (const char* text : {"", "0", "-1", "1.5", "64k", " 1", "99999999999999999999"})
        EXPECT_FALSE(parse_count(text));
}

TEST(ParseGuestDir, IsAbsoluteAndNormal) {
    EXPECT_EQ(parse_guest_dir("/a//b/./c/").value(), "/a/b/c");
    EXPECT_EQ(parse_guest_dir("/").value(), "/");
    EXPECT_FALSE(parse_guest_dir("work"));
}

TEST(ParseEnv, SetsPassesOnAndLeavesOut) {
    const auto set = parse_env("A=b=c", no_variables()).value();
    EXPECT_EQ(set->name, "A");
    EXPECT_EQ(set->value, "b=c");
    EXPECT_EQ(parse_env("EMPTY=", home()).value()->value, "");
    EXPECT_EQ(parse_env("HOME", home()).value()->value, "/home/me");
    EXPECT_FALSE(parse_env("UNSET", home()).value().has_value());
    EXPECT_FALSE(parse_env("=x", home()));
    EXPECT_FALSE(parse_env("", home()));
}

TEST(ParseEnvFile, SkipsCommentsAndNamesTheBadLine) {
    const auto variables = parse_env_file("# all of them\n\nA=1\r\nHOME\nUNSET\nB= two words ", home()).value();
    ASSERT_EQ(variables.size(), 3U);
    EXPECT_EQ(variables[0].value, "1");
    EXPECT_EQ(variables[1].value, "/home/me");
    EXPECT_EQ(variables[2].value, " two words ");
    EXPECT_NE(parse_env_file("A=1\n=2\n", home()).error().message.find("line 2"), std::string::npos);
    EXPECT_FALSE(parse_env_file(std::string_view("A=\0B", 4), home()));
}

}  // namespace
}  // namespace coracle::cli

// The spellings of sizes, CPUs and durations that users write, and those that are refused.
#include "coracle/units.hpp"

#include <gtest/gtest.h>

namespace coracle {
namespace {

using namespace std::chrono_literals;

TEST(ParseBytes, ReadsTheSpellingsOfDockerAndKubernetes) {
    EXPECT_EQ(parse_bytes("512m").value(), 512_MiB);
    EXPECT_EQ(parse_bytes("1g").value(), 1_GiB);
    EXPECT_EQ(parse_bytes("64K").value(), 64_KiB);
    EXPECT_EQ(parse_bytes("1.5g").value(), 1536_MiB);
    EXPECT_EQ(parse_bytes("512MiB").value(), 512_MiB);
    EXPECT_EQ(parse_bytes("1048576").value(), 1_MiB);
    EXPECT_EQ(parse_bytes("0.5k").value(), Bytes{512});
}

TEST(ParseBytes, RefusesWhatIsNoSizeAndNamesIt) {
    for (const char* text : {"", "512x", "-1", "m", "1 g", "1e9", "0", "99999999999t", "1.", ".5m", "1..5m"}) {
        const auto size = parse_bytes(text);
        ASSERT_FALSE(size) << text;
        EXPECT_EQ(size.error().code, ErrorCode::invalid_request);
        EXPECT_NE(size.error().message.find(text), std::string::npos) << size.error().message;
    }
}

TEST(ParseCpus, KeepsThreeDigitsAndRefusesMore) {
    EXPECT_EQ(parse_cpus("1.0").value(), Cpus{1000});
    EXPECT_EQ(parse_cpus("0.25").value(), Cpus{250});
    EXPECT_EQ(parse_cpus("2").value(), Cpus{2000});
    for (const char* text : {"", "0", "0.0005", "-1", "1.0x", "200000"}) EXPECT_FALSE(parse_cpus(text)) << text;
}

TEST(ParseDuration, ReadsCompoundsAndBareSeconds) {
    EXPECT_EQ(parse_duration("2s").value(), 2s);
    EXPECT_EQ(parse_duration("300").value(), 300s);
    EXPECT_EQ(parse_duration("1m30s").value(), 90s);
    EXPECT_EQ(parse_duration("1.5h").value(), 90min);
    EXPECT_EQ(parse_duration("0.5").value(), 500ms);
    for (const char* text : {"", "0", "s", "1x", "1m30", "-2s", "2s ", "999999999h"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

TEST(UnitText, IsReadBackAsTheSameValue) {
    for (const Bytes size : {Bytes{1}, Bytes{1023}, 512_MiB, Bytes{1536}, 3_GiB}) {
        EXPECT_EQ(parse_bytes(to_string(size)).value(), size);
    }
    for (const Cpus cpus : {Cpus{1}, Cpus{250}, Cpus{1500}, Cpus{2000}}) {
        EXPECT_EQ(parse_cpus(to_string(cpus)).value(), cpus);
    }
    for (const Duration time : {Duration(1), Duration(1500ms), Duration(2s)}) {
        EXPECT_EQ(parse_duration(to_string(time)).value(), time);
    }
}

TEST(ParseCpuList, ReadsNumbersAndRangesAndSortsThem) {
    EXPECT_EQ(parse_cpu_list("0").value(), (std::vector<unsigned>{0}));
    EXPECT_EQ(parse_cpu_list("5,0-2,1").value(), (std::vector<unsigned>{0, 1, 2, 5}));
    EXPECT_EQ(to_string(parse_cpu_list("5,0-2,1,7-8").value()), "0-2,5,7-8");
    EXPECT_EQ(to_string(std::vector<unsigned>{}), "");
}

TEST(ParseCpuList, RefusesWhatIsNone) {
    for (const char* text : {"", ",", "1,", ",1", "1-", "-1", "2-1", "a", "1 ", "0-8192", "0--1", "1-2-3"}) {
        EXPECT_FALSE(parse_cpu_list(text)) << text;
    }
}

}  // namespace
}  // namespace coracle

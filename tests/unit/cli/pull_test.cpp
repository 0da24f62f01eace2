// `coracle pull` as its caller sees it: words, options, progress in three forms.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/pull_progress.hpp"
#include "support/fake_engine.hpp"

namespace coracle::cli {
namespace {

using namespace std::chrono_literals;
using coracle::testing::FakeHost;
using coracle::testing::run_cli;
using ::testing::HasSubstr;
using ::testing::Not;

PullEvent layer(std::uint64_t bytes, std::uint64_t total = 100 << 20) {
    return {.kind = PullEvent::Kind::layer, .digest = "sha256:aaaaaaaaaaaabbbb", .bytes = bytes, .total = total};
}

FakeHost host_with_image() {
    FakeHost host;
    host.images = {{.ref = "localhost:5000/app:1",
                    .manifest_digest = "sha256:1234",
                    .platform = "linux/amd64",
                    .size = 5,
                    .created = {}}};
    host.pull_events = {layer(0), layer(100 << 20)};
    return host;
}

TEST(PullCommand, OptionsReachTheEngine) {
    FakeHost host = host_with_image();
    const auto run = run_cli(host, {"pull", "--platform", "linux/arm64", "--parallel", "7", "--stall-timeout", "2s",
                                    "localhost:5000/app:1"});
    EXPECT_EQ(run.status, 0) << run.err;
    ASSERT_EQ(host.pulls.size(), 1U);
    EXPECT_EQ(host.pulls[0].reference, "localhost:5000/app:1");
    EXPECT_EQ(host.pulls[0].platform, "linux/arm64");
    EXPECT_EQ(host.pulls[0].parallel, 7U);
    EXPECT_EQ(host.pulls[0].stall_timeout, 2s);
    EXPECT_EQ(run.out, "localhost:5000/app:1  sha256:1234\n");
    EXPECT_EQ(run.err, "layer aaaaaaaaaaaa: 100.0 MiB\n");
}

TEST(RunCommand, ShowsThePullOfItsImageUnlessItIsQuiet) {
    FakeHost host = host_with_image();
    EXPECT_EQ(run_cli(host, {"run", "x", "true"}).err, "layer aaaaaaaaaaaa: 100.0 MiB\n");
    EXPECT_EQ(run_cli(host, {"run", "--quiet", "x", "true"}).err, "");
}

TEST(PullCommand, QuietShowsNoProgress) {
    FakeHost host = host_with_image();
    EXPECT_EQ(run_cli(host, {"pull", "-q", "x"}).err, "");
}

TEST(PullCommand, JsonIsLinesWithTheImageLast) {
    FakeHost host = host_with_image();
    const auto run = run_cli(host, {"pull", "--json", "x"});
    std::istringstream lines(run.out);
    std::vector<nlohmann::json> read;
    for (std::string line; std::getline(lines, line);) read.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(read.size(), 3U);
    EXPECT_EQ(read[1].at("event"), "layer");
    EXPECT_EQ(read[1].at("bytes"), 100 << 20);
    EXPECT_EQ(read[2].at("images").at(0).at("manifest_digest"), "sha256:1234");
}

TEST(PullCommand, WrongWordsAreRefused) {
    FakeHost host;
    EXPECT_THAT(run_cli(host, {"pull"}).err, HasSubstr("no image is named"));
    EXPECT_THAT(run_cli(host, {"pull", "a", "b"}).err, HasSubstr("more than one"));
    EXPECT_EQ(run_cli(host, {"pull", "--parallel", "0", "a"}).status, 125);
    EXPECT_EQ(run_cli(host, {"pull", "--parallel", "1000", "a"}).status, 125);
    EXPECT_EQ(run_cli(host, {"pull", "--stall-timeout", "0s", "a"}).status, 125);
    EXPECT_TRUE(host.pulls.empty());
}

struct Screen {
    std::string text;
    PullProgressText progress;
    PullProgressText::Clock::time_point now{};
    explicit Screen(PullProgressText::Form form, std::size_t columns = 100)
        : progress(form, columns, [this](const std::string& more) { text += more; }) {}
    void take(const PullEvent& event, std::chrono::milliseconds later = 0ms) { progress.take(event, now += later); }
};

TEST(PullProgress, ABarShowsRateAndTimeLeft) {
    Screen screen(PullProgressText::Form::bars);
    screen.take(layer(1));
    screen.take(layer(50 << 20), 5s);
    EXPECT_THAT(screen.text, HasSubstr("[============            ]"));
    EXPECT_THAT(screen.text, HasSubstr("50.0 MiB /  100.0 MiB"));
    EXPECT_THAT(screen.text, HasSubstr("10.0 MiB/s  ETA 0:05"));
}

TEST(PullProgress, BarsAreNotDrawnMoreThanTenTimesASecond) {
    Screen screen(PullProgressText::Form::bars);
    for (std::uint64_t at = 1; at <= 1000; ++at) screen.take(layer(at), 1ms);
    EXPECT_LE(std::count(screen.text.begin(), screen.text.end(), '\n'), 11);
}

TEST(PullProgress, NoLineIsWiderThanTheTerminal) {
    Screen screen(PullProgressText::Form::bars, 20);
    screen.take(layer(50 << 20), 5s);
    EXPECT_THAT(screen.text, HasSubstr("aaaaaaaaaaaa"));
    EXPECT_THAT(screen.text, Not(HasSubstr("100.0 MiB")));
}

TEST(PullProgress, LinesTellEachLayerOnce) {
    Screen screen(PullProgressText::Form::lines);
    screen.take({.kind = PullEvent::Kind::present, .digest = "sha256:cccccccccccc", .bytes = 0, .total = 9});
    screen.take(layer(50));
    screen.take(layer(100 << 20));
    screen.take(layer(100 << 20));
    EXPECT_EQ(screen.text, "layer cccccccccccc: present\nlayer aaaaaaaaaaaa: 100.0 MiB\n");
}

TEST(PullProgress, AHostileDigestCannotMoveTheCursor) {
    EXPECT_THAT(event_json({.kind = PullEvent::Kind::layer, .digest = "\x1b[2J", .bytes = 0, .total = 0}),
                HasSubstr("\\u001b"));
    Screen screen(PullProgressText::Form::lines);
    screen.take({.kind = PullEvent::Kind::present, .digest = "\x1b[2J", .bytes = 0, .total = 9});
    EXPECT_THAT(screen.text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace coracle::cli

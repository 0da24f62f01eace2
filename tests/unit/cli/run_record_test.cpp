// `coracle run` from the RunResult to what people and programs see of it, and its signals on the way.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "support/fake_engine.hpp"

namespace coracle::testing {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RunOutput, SuccessAndTheProgramsOwnFailureAddNothing) {
    FakeHost host;
    for (const int status : {0, 1, 7, 255}) {
        host.on_run = [&](const Request&, int) { return exited(status); };
        const auto run = run_cli(host, {"run", "busybox"});
        EXPECT_EQ(run.status, status);
        EXPECT_EQ(run.out + run.err, "");
    }
}

TEST(RunOutput, AFailureIsOneLineAndAHint) {
    FakeHost host;
    host.on_run = [](const Request&, int) {
        RunResult result;
        result.reason = Reason::wall_timeout;
        result.signal = SIGKILL;
        result.message = "ended after 2s\n(--timeout)";
        result.hint = "raise --timeout";
        return result;
    };
    const auto run = run_cli(host, {"run", "busybox"});
    EXPECT_EQ(run.status, 124);
    EXPECT_EQ(run.err, "coracle: wall_timeout: ended after 2s (--timeout)\nhint: raise --timeout\n");
}

TEST(RunOutput, AFailureWithoutWordsIsToldAllTheSame) {
    FakeHost host;
    host.on_run = [](const Request&, int) {
        RunResult result;
        result.reason = Reason::signaled;
        result.signal = SIGSEGV;
        return result;
    };
    const auto run = run_cli(host, {"run", "busybox"});
    EXPECT_EQ(run.status, 139);
    EXPECT_EQ(run.err, "coracle: signaled: ended by signal 11\n");
}

TEST(RunOutput, JsonIsExactlyOneLineOnStdout) {
    FakeHost host;
    host.on_run = [](const Request& request, int) {
        EXPECT_EQ(request.output_mode, OutputMode::capture);
        auto result = exited(7);
        result.out = {.data = "two\nlines\n", .bytes_total = 10, .omitted_at = {}, .sha256 = {}};
        return result;
    };
    const auto run = run_cli(host, {"run", "--json", "busybox"});
    EXPECT_EQ(run.status, 7);
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 1);
    EXPECT_EQ(json::parse(run.out).at("stdout"), "two\nlines\n");
}

TEST(RunOutput, DescriptorsOfTheCallerAreLentToTheRequest) {
    FakeHost host;
    run_cli(host, {"run", "busybox"});
    const auto& streams = host.requests.at(0).streams;
    EXPECT_GT(streams.in, 2);
    EXPECT_NE(streams.out, streams.err);
}

TEST(RunOutput, EngineThatCannotOpenIsARecordToo) {
    FakeHost host;
    host.open_error = make_error(ErrorCode::denied, "open '/var/lib/coracle': Permission denied", "use --store");
    const auto plain = run_cli(host, {"run", "busybox"});
    EXPECT_EQ(plain.status, 125);
    EXPECT_EQ(plain.err, "coracle: setup_failed: open '/var/lib/coracle': Permission denied\nhint: use --store\n");
    const auto record = json::parse(run_cli(host, {"run", "--json", "busybox"}).out);
    EXPECT_EQ(record.at("message"), "open '/var/lib/coracle': Permission denied");
    EXPECT_EQ(record.at("image").at("ref"), "busybox");
}

class RecordFile : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directory(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static json read(const std::string& path) { return json::parse(base::read_file(path, 1_MiB).value()); }

    std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("coracle-cli-" + base::random_hex(6));
    FakeHost host_;
};

TEST_F(RecordFile, HoldsTheRecordAndStdoutStaysTheProgramsOwn) {
    const auto run = run_cli(host_, {"run", "--result", path("r.json"), "busybox"});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.out + run.err, "");
    const auto record = read(path("r.json"));
    EXPECT_EQ(record.at("reason"), "exited");
    EXPECT_TRUE(record.at("stdout").is_null()) << "coracle never saw the output";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(RecordFile, IsReplacedAndAlsoTellsOfAFailure) {
    run_cli(host_, {"run", "--result", path("r.json"), "busybox"});
    EXPECT_EQ(run_cli(host_, {"run", "--result", path("r.json"), "--memory", "512x", "busybox"}).status, 125);
    EXPECT_EQ(read(path("r.json")).at("reason"), "setup_failed");
}

TEST_F(RecordFile, BehindALinkIsReplacedAndTheLinkStays) {
    run_cli(host_, {"run", "--result", path("real.json"), "busybox"});
    std::filesystem::create_symlink("real.json", path("link.json"));
    run_cli(host_, {"run", "--result", path("link.json"), "--memory", "512x", "busybox"});
    EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
    EXPECT_EQ(read(path("real.json")).at("reason"), "setup_failed");
}

TEST_F(RecordFile, MayBeADeviceThatIsWrittenAndNotReplaced) {
    EXPECT_EQ(run_cli(host_, {"run", "--result", "/dev/null", "busybox"}).status, 0);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_EQ(run_cli(host_, {"run", "--result", "/dev/full", "busybox"}).status, 125);
}

TEST_F(RecordFile, MayBeAFifoThatIsOpenedOnceEvenWhenTheRunFails) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    host_.open_error = make_error(ErrorCode::denied, "no store");
    std::string got;
    std::thread reader([&] {
        const base::UniqueFd fd(::open(path("fifo").c_str(), O_RDONLY | O_CLOEXEC));
        got = base::read_all(fd.get(), 1_MiB, "fifo").value();
    });
    EXPECT_EQ(run_cli(host_, {"run", "--result", path("fifo"), "busybox"}).status, 125);
    reader.join();
    EXPECT_EQ(json::parse(got).at("message"), "no store");
}

TEST_F(RecordFile, MayBeADescriptorThatTheSandboxDoesNotInherit) {
    const int fd = ::open(path("fd.json").c_str(), O_WRONLY | O_CREAT, 0600);
    host_.on_run = [fd](const Request&, int) {
        EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
        return exited(3);
    };
    EXPECT_EQ(run_cli(host_, {"run", "--result-fd", std::to_string(fd), "busybox"}).status, 3);
    ::close(fd);
    EXPECT_EQ(read(path("fd.json")).at("exit_code"), 3);
}

TEST(RunSignals, BecomeBytesForTheEngineAndAreGivenBackAfterwards) {
    // A shell that runs the tests in the background has some of them ignored, and those stay so.
    const int last = SIGRTMAX;
    const std::vector<int> all{SIGTERM, SIGINT,  SIGHUP,    SIGQUIT, SIGWINCH, SIGUSR1,
                               SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,    last};
    for (const int number : all) ::signal(number, SIG_DFL);
    struct sigaction before {};
    ::sigaction(SIGTERM, nullptr, &before);
    FakeHost host;
    host.on_run = [&all](const Request&, int signal_fd) {
        for (const int number : all) {
            ::raise(number);
            unsigned char byte = 0;
            EXPECT_EQ(::read(signal_fd, &byte, 1), 1);
            EXPECT_EQ(byte, number);
        }
        return exited(0);
    };
    EXPECT_EQ(run_cli(host, {"run", "busybox"}).status, 0);
    struct sigaction after {};
    ::sigaction(SIGTERM, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(RunSignals, IgnoredOnesStayIgnored) {
    const auto before = ::signal(SIGHUP, SIG_IGN);
    FakeHost host;
    host.on_run = [](const Request&, int signal_fd) {
        ::raise(SIGHUP);
        unsigned char byte = 0;
        EXPECT_EQ(::read(signal_fd, &byte, 1), -1);
        return exited(0);
    };
    EXPECT_EQ(run_cli(host, {"run", "busybox"}).status, 0);
    ::signal(SIGHUP, before);
}

}  // namespace
}  // namespace coracle::testing

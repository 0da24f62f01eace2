// `coracle run` from its words to the Request, and from the RunResult to what people and programs see of it.
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

// The Request of `coracle run OPTIONS... busybox true`.
Request request_of(std::vector<std::string> options) {
    FakeHost host;
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"busybox", "true"});
    const auto run = run_cli(host, options);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(host.requests.size(), 1U) << run.err;
    return host.requests.empty() ? Request{} : host.requests.front();
}

TEST(RunOptions, EachSetsItsFieldOfTheRequest) {
    EXPECT_EQ(request_of({"-m", "64m"}).limits.memory, 64_MiB);
    EXPECT_EQ(request_of({"--memory=1g"}).limits.memory, 1_GiB);
    EXPECT_EQ(request_of({"--cpus", "0.5"}).limits.cpus, Cpus{500});
    EXPECT_EQ(request_of({"--pids", "7"}).limits.pids, 7U);
    EXPECT_EQ(request_of({"--timeout", "2s"}).limits.wall_time, Duration(2s));
    EXPECT_EQ(request_of({"--grace", "100ms"}).limits.grace, Duration(100ms));
    EXPECT_EQ(request_of({"--output-limit", "1k"}).limits.output, 1_KiB);
    EXPECT_EQ(request_of({"--output-excess", "kill"}).output_excess, OutputExcess::kill);
    EXPECT_EQ(request_of({"--cpu-time", "500ms"}).limits.cpu_time, Duration(500ms));
    EXPECT_EQ(request_of({"--idle-timeout", "3s"}).limits.idle_time, Duration(3s));
    EXPECT_EQ(request_of({"--open-files", "64"}).limits.open_files, 64U);
    EXPECT_EQ(request_of({"--file-size", "1m"}).limits.file_size, 1_MiB);
    EXPECT_EQ(request_of({"--stack", "8m"}).limits.stack, 8_MiB);
    EXPECT_EQ(request_of({"--memory-swap", "1g"}).limits.memory_swap, 1_GiB);
    EXPECT_EQ(request_of({"--storage", "10m"}).limits.storage, 10_MiB);
    EXPECT_EQ(request_of({"--shm-size", "2m"}).limits.shm, 2_MiB);
    EXPECT_EQ(request_of({"--tmpfs", "/t:inodes=9"}).tmpfs.at(0).inodes, 9U);
    EXPECT_THAT(request_of({"--require", "memory,pids"}).require, ElementsAre("memory", "pids"));
    EXPECT_TRUE(request_of({"--best-effort"}).best_effort);
    EXPECT_EQ(request_of({"--tmpfs", "/t:size=1m"}).tmpfs.at(0).size, 1_MiB);
    EXPECT_EQ(request_of({"--writable"}).writable_root, true);
    EXPECT_EQ(request_of({"-w", "/work"}).workdir, "/work");
    EXPECT_EQ(request_of({"-u", "app:staff"}).user, "app:staff");
    EXPECT_EQ(request_of({"-i"}).stdin_mode, StdinMode::inherit);
    EXPECT_EQ(request_of({"--network", "host"}).network, NetworkMode::host);
    EXPECT_EQ(request_of({"--network", "bridge"}).network, NetworkMode::bridge);
    EXPECT_THAT(request_of({"--cap-add", "CHOWN,KILL", "--cap-add", "FOWNER"}).cap_add,
                ElementsAre("CHOWN", "KILL", "FOWNER"));
    EXPECT_THAT(request_of({"--cap-drop", "ALL"}).cap_drop, ElementsAre("ALL"));
    EXPECT_EQ(request_of({"--seccomp", "unconfined"}).seccomp, "unconfined");
    EXPECT_EQ(request_of({"--runtime", "crun"}).runtime, "crun");
    EXPECT_EQ(request_of({"--pull", "never"}).pull, PullPolicy::never);
    EXPECT_THAT(*request_of({"--entrypoint", "/bin/env"}).entrypoint, ElementsAre("/bin/env"));
    EXPECT_TRUE(request_of({"--entrypoint", ""}).entrypoint->empty());
}

TEST(RunOptions, AbsentOnesLeaveTheDefaults) {
    const auto request = request_of({});
    EXPECT_FALSE(request.limits.memory || request.limits.cpus || request.limits.pids || request.limits.wall_time);
    EXPECT_FALSE(request.entrypoint || request.workdir || request.user || request.script || request.runtime);
    EXPECT_EQ(request.stdin_mode, StdinMode::empty);
    EXPECT_EQ(request.output_mode, OutputMode::passthrough);
    EXPECT_FALSE(request.writable_root || request.best_effort);
}

TEST(RunOptions, TheLaterOneWins) {
    EXPECT_EQ(request_of({"-m", "1g", "-m", "2g"}).limits.memory, 2_GiB);
    EXPECT_EQ(request_of({"--writable", "--read-only"}).writable_root, false);
    EXPECT_EQ(request_of({"--read-only", "--writable"}).writable_root, true);
}

TEST(RunOptions, VolumesBecomeAbsoluteFromTheCurrentDirectory) {
    const auto volumes = request_of({"-v", "work:/a", "-v", "/x/../y:/b:ro"}).volumes;
    ASSERT_EQ(volumes.size(), 2U);
    EXPECT_EQ(volumes[0].host, (std::filesystem::current_path() / "work").string());
    EXPECT_EQ(volumes[1].host, "/y");
    EXPECT_TRUE(volumes[1].read_only);
}

TEST(RunOptions, EnvironmentOptionsWinOverEnvironmentFiles) {
    const auto path = std::filesystem::temp_directory_path() / ("coracle-env-" + base::random_hex(6));
    ASSERT_TRUE(base::write_new_file_at(AT_FDCWD, path.string(), "A=file\nB=file\n"));
    ::setenv("CORACLE_TEST_VARIABLE", "mine", 1);
    const auto env =
        request_of({"-e", "A=option", "--env-file", path.string(), "-e", "CORACLE_TEST_VARIABLE", "-e", "NOT_SET"}).env;
    std::filesystem::remove(path);
    ASSERT_EQ(env.size(), 4U);
    EXPECT_EQ(env[0].value, "file");
    EXPECT_EQ(env[2].name, "A");
    EXPECT_EQ(env[2].value, "option");
    EXPECT_EQ(env[3].value, "mine");
}

TEST(RunOptions, ScriptComesFromAFileOrFromStdin) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"run", "--script", "-", "busybox"}, "echo hi\n").status, 0);
    EXPECT_EQ(host.requests.at(0).script, "echo hi\n");
    const auto clash = run_cli(host, {"run", "-i", "--script", "-", "busybox"});
    EXPECT_EQ(clash.status, 125);
    EXPECT_THAT(clash.err, HasSubstr("--script"));
    EXPECT_EQ(run_cli(host, {"run", "--script", "/no/such/file", "busybox"}).status, 125);
    EXPECT_EQ(host.runs, 1);
}

TEST(RunWords, WhatFollowsTheImageIsTheCommandUntouched) {
    FakeHost host;
    const std::vector<std::string> command{"ls", "--memory", "-m", "--json=", "--", "--help", "", "a b"};
    for (const bool dashes : {false, true}) {
        std::vector<std::string> args{"run", "--pids", "9", "busybox"};
        if (dashes) args.emplace_back("--");
        args.insert(args.end(), command.begin(), command.end());
        EXPECT_EQ(run_cli(host, args).status, 0);
        EXPECT_EQ(host.requests.back().command, command);
        EXPECT_EQ(host.requests.back().image, "busybox");
        EXPECT_FALSE(host.requests.back().limits.memory);
    }
}

TEST(RunWords, OnlyOneDashesAfterTheImageIsDropped) {
    FakeHost host;
    run_cli(host, {"run", "busybox", "--", "--", "x"});
    EXPECT_THAT(host.requests.back().command, ElementsAre("--", "x"));
    run_cli(host, {"run", "busybox", "--x"});
    EXPECT_THAT(host.requests.back().command, ElementsAre("--x"));
}

// Which image that is, the engine knows: it reads the configuration.
TEST(RunWords, DashesInTheImagesPlaceOrNoWordsMeanTheDefaultImage) {
    FakeHost host;
    run_cli(host, {"run", "--pids", "9", "--", "busybox", "--", "x"});
    EXPECT_EQ(host.requests.back().image, "");
    EXPECT_THAT(host.requests.back().command, ElementsAre("busybox", "--", "x"));
    run_cli(host, {"run"});
    EXPECT_EQ(host.requests.back().image, "");
    EXPECT_TRUE(host.requests.back().command.empty());
    run_cli(host, {"plan", "--", "x"});
    EXPECT_EQ(host.requests.back().image, "");
}

TEST(RunWords, ShortOptionsMayBeJoined) {
    const auto request = request_of({"-im64m", "-eA=1"});
    EXPECT_EQ(request.stdin_mode, StdinMode::inherit);
    EXPECT_EQ(request.limits.memory, 64_MiB);
    EXPECT_EQ(request.env.at(0).value, "1");
}

struct Refusal {
    std::vector<std::string> args;
    std::vector<std::string> words;  // that stderr names
};

TEST(RunRefusals, NameTheFlagTheValueAndTheFixAndNothingRuns) {
    const std::vector<Refusal> refusals{
        {{"--memory", "512x", "busybox"}, {"--memory", "'512x'", "hint: write it like"}},
        {{"--memory", "--json", "busybox"}, {"--memory", "'--json'"}},
        {{"--cpus", "0", "busybox"}, {"--cpus", "'0'"}},
        {{"--pids", "many", "busybox"}, {"--pids", "'many'", "whole number"}},
        {{"--timeout", "1x", "busybox"}, {"--timeout", "'1x'"}},
        {{"-v", "/a", "busybox"}, {"--volume", "'/a'", "HOST:GUEST"}},
        {{"--tmpfs", "t", "busybox"}, {"--tmpfs", "'t'"}},
        {{"-e", "=x", "busybox"}, {"--env", "'=x'"}},
        {{"--env-file", "/no/such", "busybox"}, {"--env-file", "/no/such"}},
        {{"-w", "here", "busybox"}, {"--workdir", "'here'"}},
        {{"--network", "lan", "busybox"}, {"--network", "'lan'", "none, host"}},
        {{"--require", "disk", "busybox"}, {"--require", "'disk'"}},
        {{"--pull", "often", "busybox"}, {"--pull", "'often'"}},
        {{"--result-fd", "1", "busybox"}, {"--result-fd", "'1'"}},
        {{"--result-fd", "999", "busybox"}, {"--result-fd", "999"}},
        {{"--result", "/no/such/folder/x", "busybox"}, {"--result", "'/no/such/folder/x'"}},
        {{"--memry", "64m", "busybox"}, {"unknown option '--memry'", "did you mean '--memory'?"}},
        {{"--entrypoint=", "busybox"}, {"--entrypoint: no value", "--entrypoint ''"}},
        {{"--memory=", "busybox"}, {"--memory: no value after '='"}},
        {{"--memory=", "64m", "busybox"}, {"--memory: no value after '='"}},
        {{"--timeout=", "--json", "busybox"}, {"--timeout: no value after '='"}},
        {{"--memory="}, {"--memory"}},
        {{"--memory"}, {"--memory"}},
        {{""}, {"'' is not an image", "busybox"}},
        {{"", "echo"}, {"'' is not an image"}},
        {{"-it", "busybox"}, {"--tty", "not built yet"}},
        {{"--publish", "80", "busybox"}, {"--publish", "not built yet"}},
        {{"--allow", "a:1", "busybox"}, {"--allow", "not built yet"}},
        {{"--profile", "x", "busybox"}, {"--profile", "not built yet"}},
        {{"--config", "", "busybox"}, {"--config", "'' is not a file"}},
        {{"--log-level", "loud", "busybox"}, {"--log-level", "'loud'"}},
    };
    FakeHost host;
    for (const auto& [tail, words] : refusals) {
        std::vector<std::string> args{"run"};
        args.insert(args.end(), tail.begin(), tail.end());
        const auto run = run_cli(host, args);
        EXPECT_EQ(run.status, 125) << run.err;
        EXPECT_EQ(run.out, "");
        EXPECT_THAT(run.err, ::testing::StartsWith("coracle: setup_failed: "));
        for (const auto& word : words) EXPECT_THAT(run.err, HasSubstr(word));
    }
    EXPECT_EQ(host.runs, 0);
}

TEST(RunRefusals, AreAValidRecordWhereJsonWasAskedFor) {
    FakeHost host;
    const std::vector<std::vector<std::string>> lines{{"run", "--json", "--memory", "512x", "busybox"},
                                                      {"run", "--memory", "512x", "--json", "busybox"},
                                                      {"run", "--memry", "512m", "--json", "busybox"},
                                                      {"run", "--json", "--memory"},
                                                      {"run", "--json", ""}};
    for (const auto& args : lines) {
        const auto run = run_cli(host, args);
        EXPECT_EQ(run.status, 125);
        EXPECT_EQ(run.err, "");
        const auto record = json::parse(run.out);
        EXPECT_EQ(record.at("reason"), "setup_failed");
        EXPECT_EQ(record.at("stage"), "request");
        EXPECT_EQ(record.at("success"), false);
        EXPECT_TRUE(record.at("exit_code").is_null());
        EXPECT_TRUE(record.at("hint").is_string());
    }
}

TEST(RunRefusals, AFlagOfTheCommandDoesNotAskForJson) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"run", "--memory", "512x", "busybox", "tool", "--json"}).out, "");
}

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

// `coracle run` from its words to the Request.
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

}  // namespace
}  // namespace coracle::testing

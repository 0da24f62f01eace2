// Records of every kind are valid against the checked-in schema and say unknown where something is unknown.
#include "cli/record_json.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "support/fake_engine.hpp"

namespace coracle::cli {
namespace {

using nlohmann::json;
using testing::exited;

json parsed(const RunResult& result, OutputMode mode = OutputMode::capture) {
    return json::parse(record_json(result, mode));
}

RunResult full_result() {
    RunResult result = exited(0);
    result.out = {.data = "hello\n", .bytes_total = 6, .omitted_at = {}, .sha256 = std::string(64, 'a')};
    result.usage.wall_s = 0.25;
    result.usage.cpu_user_s = {0.125, "cgroup2"};
    result.usage.memory_peak = {1'048'576, "cgroup2"};
    result.usage.oom_kills = {0, "cgroup2"};
    result.limits.requested = {{"memory", "64m"}};
    result.limits.granted = {{"memory", "64m"}, {"cpus", "1"}};
    result.limits.enforced = {{.limit = "memory", .value = "67108864", .source = "cgroup2 memory.max"}};
    result.limits.clamped = {
        {.limit = "memory", .wanted = "1g", .granted = "64m", .ceiling = "/etc/coracle/config.yaml:3"}};
    result.limits.degraded = {{.limit = "cpus", .wanted = "1", .mechanism = "none", .reason = "no cgroup"}};
    result.security = {.capabilities = {},
                       .no_new_privileges = true,
                       .seccomp = "filter",
                       .seccomp_profile = "default",
                       .namespaces = {"mount", "pid"},
                       .read_only_root = true};
    result.timing_ms.run = 250.0;
    result.timing_ms.remove = 1.5;
    result.timing_ms.total = 270.25;
    result.runtime_name = "runc";
    result.warnings = {"one"};
    return result;
}

RunResult timed_out() {
    RunResult result = full_result();
    result.reason = Reason::wall_timeout;
    result.exit_code.reset();
    result.signal = 9;
    result.message = "ended after 2s (--timeout)";
    return result;
}

RunResult binary_output() {
    RunResult result = full_result();
    result.out.data = std::string(
        "\x7F"
        "ELF\xFF\x00\xFE",
        7);
    result.err = {.data = "a\0b", .bytes_total = 9, .omitted_at = 2, .sha256 = {}};
    result.message = "not text: \xFF";
    return result;
}

RunResult broken_setup() {
    return failed_result(
        make_error(ErrorCode::denied, "mount: Operation not permitted", "enable it").at(Stage::rootfs));
}

// Writes the record where the checker finds it and lets it judge.
void expect_valid(const RunResult& result, OutputMode mode = OutputMode::capture) {
    const auto path = std::filesystem::temp_directory_path() / ("coracle-record-" + base::random_hex(6) + ".json");
    ASSERT_TRUE(base::write_new_file_at(AT_FDCWD, path.string(), record_json(result, mode)));
    const std::string source = CORACLE_SOURCE_DIR;
    const std::string command = "python3 '" + source + "/tests/unit/cli/check_schema.py' '" + source +
                                "/src/cli/result.schema.json' '" + path.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << record_json(result, mode);
    std::filesystem::remove(path);
}

TEST(RecordSchema, HoldsForARunThatExited) { expect_valid(full_result()); }
TEST(RecordSchema, HoldsForATimeout) { expect_valid(timed_out()); }
TEST(RecordSchema, HoldsForBinaryOutput) { expect_valid(binary_output()); }
TEST(RecordSchema, HoldsForASetupThatFailed) { expect_valid(broken_setup()); }
TEST(RecordSchema, HoldsForAnEmptyResult) { expect_valid(RunResult{}); }
TEST(RecordSchema, HoldsWhereNothingWasCaptured) { expect_valid(full_result(), OutputMode::passthrough); }

TEST(RecordSchema, KnowsEveryReasonAndStage) {
    const auto schema = json::parse(base::read_file(CORACLE_SOURCE_DIR "/src/cli/result.schema.json", 1_MiB).value());
    for (int i = 0; i <= static_cast<int>(Reason::internal); ++i) {
        const auto& known = schema.at("properties").at("reason").at("enum");
        EXPECT_NE(std::find(known.begin(), known.end(), to_string(static_cast<Reason>(i))), known.end());
    }
    for (int i = 0; i <= static_cast<int>(Stage::remove); ++i) {
        const auto& known = schema.at("properties").at("stage").at("enum");
        EXPECT_NE(std::find(known.begin(), known.end(), to_string(static_cast<Stage>(i))), known.end());
    }
}

TEST(RecordJson, PutsTheVerdictFirst) {
    EXPECT_TRUE(record_json(full_result(), OutputMode::capture)
                    .starts_with(R"({"schema":1,"id":"0123456789abcdef","reason":"exited","exit_code":0,"signal":null,)"
                                 R"("success":true,"duration":0.25,"timed_out":false,"oom_killed":false,"stuck":false,)"
                                 R"("stdout":"hello\n")"));
}

TEST(RecordJson, FlagsFollowTheReason) {
    const auto timeout = parsed(timed_out());
    EXPECT_EQ(timeout.at("timed_out"), true);
    EXPECT_EQ(timeout.at("success"), false);
    EXPECT_TRUE(timeout.at("exit_code").is_null());
    auto oom = timed_out();
    oom.reason = Reason::oom;
    EXPECT_EQ(parsed(oom).at("oom_killed"), true);
    EXPECT_EQ(parsed(oom).at("timed_out"), false);
}

TEST(RecordJson, ShowsTimesAsPeopleWriteThem) {
    RunResult result = full_result();
    result.timing_ms.rootfs = 7.243246999999999;
    result.usage.wall_s = 1.99982988;
    const auto text = record_json(result, OutputMode::capture);
    EXPECT_NE(text.find("\"rootfs\":7.243247,"), std::string::npos) << text;
    EXPECT_NE(text.find("\"duration\":1.99982988,"), std::string::npos) << text;
}

TEST(RecordJson, UnknownIsNullAndZeroIsZero) {
    const auto usage = parsed(full_result()).at("usage");
    EXPECT_EQ(usage.at("oom_kills"), 0);
    EXPECT_EQ(usage.at("sources").at("oom_kills"), "cgroup2");
    EXPECT_TRUE(usage.at("pids_peak").is_null());
    EXPECT_EQ(usage.at("sources").at("pids_peak"), "none");
    const auto failed = parsed(broken_setup());
    EXPECT_TRUE(failed.at("security").at("capabilities").is_null());
    EXPECT_TRUE(failed.at("security").at("read_only_root").is_null());
    EXPECT_TRUE(failed.at("timing_ms").at("delete").is_null());
    EXPECT_TRUE(failed.at("id").is_null());
    EXPECT_EQ(failed.at("stage"), "rootfs");
}

TEST(RecordJson, CarriesBytesThatAreNoTextInBase64) {
    const auto out = parsed(binary_output()).at("streams").at("stdout");
    EXPECT_EQ(out.at("base64"), "f0VMRv8A/g==");
    EXPECT_EQ(out.at("text"), std::string("\x7F"
                                          "ELF\xEF\xBF\xBD\x00\xEF\xBF\xBD",
                                          11));
    EXPECT_EQ(out.at("bytes_kept"), 7);
    EXPECT_TRUE(parsed(full_result()).at("streams").at("stdout").at("base64").is_null());
}

TEST(RecordJson, SaysNothingAboutOutputThatItNeverSaw) {
    const auto record = parsed(full_result(), OutputMode::passthrough);
    EXPECT_TRUE(record.at("stdout").is_null());
    EXPECT_TRUE(record.at("streams").at("stderr").at("bytes_total").is_null());
}

// An image's USER may have line breaks and escape sequences in it, and a message quotes it.
TEST(RecordJson, SentencesAreOneLineWithoutControlCharacters) {
    RunResult result = failed_result(make_error(ErrorCode::not_found, "unknown user 'a\nb\x1B[2J'", "fix\nit"));
    result.warnings = {"user 'a\nb'"};
    const json record = parsed(result);
    EXPECT_EQ(record.at("message"), "unknown user 'a b?[2J'");
    EXPECT_EQ(record.at("hint"), "fix it");
    EXPECT_EQ(record.at("warnings").at(0), "user 'a b'");
}

TEST(ErrorJson, IsValidWhateverTheMessageHolds) {
    const auto answer = json::parse(error_json(make_error(ErrorCode::not_found, "open '\xFF\"\n'", "")));
    EXPECT_EQ(answer.at("error").at("code"), "not_found");
    EXPECT_TRUE(answer.at("error").at("hint").is_null());
}

}  // namespace
}  // namespace coracle::cli

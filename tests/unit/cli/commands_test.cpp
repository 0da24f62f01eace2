// Every command but run, and what happens to words that are none.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "support/fake_engine.hpp"

namespace coracle::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

ImageInfo busybox() {
    return {.ref = "busybox",
            .manifest_digest = "sha256:" + std::string(64, 'a'),
            .platform = "linux/amd64",
            .size = 2'097'152,
            .created = "2024-01-02T03:04:05Z"};
}

TEST(Help, IsShownWithoutArgumentsAndNamesEveryCommand) {
    FakeHost host;
    for (const std::vector<std::string>& args : {std::vector<std::string>{}, {"--help"}, {"help"}, {"-h"}}) {
        const auto run = run_cli(host, args);
        EXPECT_EQ(run.status, 0);
        for (const char* word : {"run", "import", "images", "inspect", "tag", "rmi", "gc", "save", "du", "plan",
                                 "bundle", "version", "--store"}) {
            EXPECT_THAT(run.out, HasSubstr(word));
        }
    }
}

TEST(Help, OfACommandHasUsageOptionsAndExamples) {
    FakeHost host;
    for (const char* command : {"run", "import", "images", "inspect", "tag", "rmi", "gc", "save", "du", "plan",
                                "bundle", "version", "completion"}) {
        const auto asked = run_cli(host, {command, "--help"});
        EXPECT_EQ(asked.status, 0);
        EXPECT_THAT(asked.out, HasSubstr("Usage: coracle " + std::string(command)));
        EXPECT_THAT(asked.out, HasSubstr("Example"));
        EXPECT_EQ(run_cli(host, {"help", command}).out, asked.out);
    }
    EXPECT_THAT(run_cli(host, {"run", "--help"}).out, HasSubstr("--memory"));
}

TEST(UnknownWords, AreRefusedWithTheWordThatWasMeant) {
    FakeHost host;
    const auto near = run_cli(host, {"rn", "busybox"});
    EXPECT_EQ(near.status, 125);
    EXPECT_EQ(near.err, "coracle: unknown command 'rn'\nhint: did you mean 'run'?\n");
    EXPECT_THAT(run_cli(host, {"elephant"}).err, HasSubstr("`coracle --help`"));
    EXPECT_THAT(run_cli(host, {"--stor", "x", "images"}).err, HasSubstr("did you mean '--store'?"));
    EXPECT_THAT(run_cli(host, {"images", "--jsn"}).err, HasSubstr("did you mean '--json'?"));
    EXPECT_THAT(run_cli(host, {"images", "extra"}).err, HasSubstr("unexpected word 'extra'"));
}

TEST(PlannedWords, SayThatTheyAreNotBuiltYet) {
    FakeHost host;
    for (const char* word : {"bench", "batch", "pool", "profile"}) {
        const auto run = run_cli(host, {word, "x"});
        EXPECT_EQ(run.status, 125);
        EXPECT_THAT(run.err, HasSubstr("'" + std::string(word) + "' is not built yet"));
    }
    EXPECT_EQ(json::parse(run_cli(host, {"pool", "--json", "x"}).out).at("error").at("code"), "unsupported");
}

TEST(Doctor, SaysWhatIsLostAndTheFixAndExitsByTheProbe) {
    FakeHost host;
    host.report.findings = {{.subject = "cgroups", .health = Health::weak, .detail = "d", .lost = "l", .fix = "f"}};
    host.report.probe = exited(0);
    const auto run = run_cli(host, {"doctor"});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("weak  cgroups: d\n      lost: l\n      fix:  f\n"));
    host.report.probe = RunResult{};
    host.report.probe.message = "broken";
    const auto broken = run_cli(host, {"doctor", "--json"});
    EXPECT_EQ(broken.status, 125);
    const json report = json::parse(broken.out);
    EXPECT_EQ(report.at("usable"), false);
    EXPECT_EQ(report.at("findings").at(0).at("fix"), "f");
    EXPECT_EQ(report.at("probe").at("message"), "broken");
}

RunInfo live_run() {
    return {.id = "2bb658568f36",
            .image = "busybox",
            .command = {"sh", "-c", "echo \x1b[2J"},
            .uid = 1000,
            .pid = 77,
            .started = 1,
            .wall_time = std::chrono::seconds(90)};
}

TEST(Ps, ListsLiveRunsWithoutMovingTheReadersCursor) {
    FakeHost host;
    host.live = {live_run()};
    const auto run = run_cli(host, {"ps"});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("2bb658568f36  busybox  1000"));
    EXPECT_THAT(run.out, HasSubstr("90s"));
    EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
    const json list = json::parse(run_cli(host, {"ps", "--json"}).out).at("runs");
    EXPECT_EQ(list.at(0).at("pid"), 77);
    EXPECT_EQ(list.at(0).at("wall_time_s"), 90.0);
}

TEST(Kill, SendsTheSignalByNameOrNumberToEveryRunThatIsNamed) {
    for (const auto& [word, number] : {std::pair{"TERM", 15}, {"SIGINT", 2}, {"kill", 9}, {"10", 10}}) {
        FakeHost host;
        const auto run = run_cli(host, {"kill", "-s", word, "aa", "bb"});
        EXPECT_EQ(run.out, "aa0123\nbb0123\n") << run.err;
        EXPECT_THAT(host.signals,
                    ::testing::ElementsAre(std::pair{std::string("aa"), number}, std::pair{std::string("bb"), number}));
    }
    FakeHost host;
    run_cli(host, {"kill", "cc"});
    EXPECT_THAT(host.signals, ::testing::ElementsAre(std::pair{std::string("cc"), 15}));
}

TEST(Kill, OneThatIsGoneDoesNotSaveTheOthers) {
    FakeHost host;
    host.error = make_error(ErrorCode::not_found, "no run 'aa' is alive");
    const auto run = run_cli(host, {"kill", "aa", "bb"});
    EXPECT_EQ(run.status, 125);
    EXPECT_EQ(run.err, "coracle: no run 'aa' is alive\n");
    EXPECT_EQ(host.signals.size(), 2U);
}

TEST(Kill, RefusesWhatIsNoSignalAndNoRun) {
    FakeHost host;
    for (const char* word : {"0", "65", "SIGNOTHING", ""}) {
        const auto run = run_cli(host, {"kill", "-s", word, "aa"});
        EXPECT_EQ(run.status, 125) << word;
        EXPECT_THAT(run.err, HasSubstr("--signal"));
    }
    EXPECT_THAT(run_cli(host, {"kill"}).err, HasSubstr("no run is named"));
    EXPECT_TRUE(host.signals.empty());
}

TEST(GlobalOptions, AreTakenBeforeAndAfterTheCommand) {
    FakeHost host;
    run_cli(host, {"--store", "/a", "images"});
    EXPECT_EQ(host.options.store, "/a");
    run_cli(host, {"--store", "/a", "run", "--store", "/b", "busybox"});
    EXPECT_EQ(host.options.store, "/b");
    run_cli(host, {"images"});
    EXPECT_FALSE(host.options.store);
}

TEST(GlobalOptions, NameTheFilesOfConfigurationAndCredentials) {
    FakeHost host;
    run_cli(host, {"--config", "/c.yaml", "images", "--authfile", "/a.json"});
    EXPECT_EQ(host.options.config, "/c.yaml");
    EXPECT_EQ(host.options.authfile, "/a.json");
    EXPECT_EQ(host.options.system_config, "/etc/coracle/config.yaml");
}

TEST(LogLevel, ShowsWarningsThatAreSilentOtherwise) {
    FakeHost host;
    host.on_run = [](const Request&, int) {
        auto result = exited(0);
        result.warnings = {"odd \x1B host"};
        result.limits.degraded = {
            {.limit = "pids", .wanted = "256", .mechanism = "rlimit_nproc", .reason = "no cgroup"}};
        return result;
    };
    EXPECT_EQ(run_cli(host, {"run", "busybox"}).err, "");
    const auto loud = run_cli(host, {"--log-level", "warn", "run", "busybox"});
    EXPECT_THAT(loud.err, HasSubstr("coracle warning: odd ? host\n"));
    EXPECT_THAT(loud.err, HasSubstr("limit pids 256 is held by rlimit_nproc: no cgroup\n"));
}

TEST(Images, AreATableForPeopleAndJsonForPrograms) {
    FakeHost host;
    host.images = {busybox()};
    const auto table = run_cli(host, {"images"});
    EXPECT_EQ(table.out,
              "IMAGE    DIGEST        PLATFORM     SIZE     CREATED\n"
              "busybox  aaaaaaaaaaaa  linux/amd64  2.0 MiB  2024-01-02T03:04:05Z\n");
    const auto list = json::parse(run_cli(host, {"images", "--json"}).out).at("images");
    EXPECT_EQ(list.at(0).at("manifest_digest"), busybox().manifest_digest);
    EXPECT_EQ(list.at(0).at("size"), 2'097'152);
}

TEST(Images, ThatCannotBeListedAreAnErrorInTheFormAskedFor) {
    FakeHost host;
    host.error = make_error(ErrorCode::corrupt, "index.json: not JSON", "restore it");
    EXPECT_EQ(run_cli(host, {"images"}).err, "coracle: index.json: not JSON\nhint: restore it\n");
    const auto run = run_cli(host, {"images", "--json"});
    EXPECT_EQ(run.status, 125);
    EXPECT_EQ(json::parse(run.out).at("error").at("message"), "index.json: not JSON");
}

TEST(Inspect, ShowsAllOfAnImageInBothForms) {
    FakeHost host;
    host.details = {.info = busybox(),
                    .names = {"busybox", "mine:1"},
                    .config_digest = "sha256:" + std::string(64, 'b'),
                    .config = R"({"config":{"Cmd":["sh"],"User":""},"os":"linux"})",
                    .last_used = "2026-01-02T03:04:05Z",
                    .layers = {{.digest = "sha256:" + std::string(64, 'c'),
                                .diff_id = "sha256:" + std::string(64, 'd'),
                                .media_type = "application/x\x1B",
                                .size = 1024,
                                .unpacked = {}}}};
    const auto text = run_cli(host, {"inspect", "busybox"});
    EXPECT_EQ(host.refs, std::vector<std::string>{"busybox"});
    EXPECT_THAT(text.out, HasSubstr("names      busybox, mine:1\n"));
    EXPECT_THAT(text.out, HasSubstr("  Cmd      [\"sh\"]\n"));
    EXPECT_THAT(text.out, HasSubstr("cccccccccccc  dddddddddddd  1.0 KiB  no        application/x?\n"));
    const auto image = json::parse(run_cli(host, {"inspect", "--json", "busybox"}).out).at("image");
    EXPECT_EQ(image.at("config").at("config").at("Cmd").at(0), "sh");
    EXPECT_TRUE(image.at("layers").at(0).at("unpacked_size").is_null());
    EXPECT_THAT(run_cli(host, {"inspect"}).err, HasSubstr("no image is named"));
    EXPECT_THAT(run_cli(host, {"inspect", "a", "b"}).err, HasSubstr("more than one"));
}

TEST(Tag, TakesAnImageAndItsNewName) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"tag", "busybox", "mine:1"}).status, 0);
    EXPECT_EQ(host.refs, (std::vector<std::string>{"busybox", "mine:1"}));
    EXPECT_THAT(run_cli(host, {"tag", "busybox"}).err, HasSubstr("coracle tag REF NAME"));
}

TEST(Rmi, SaysWhatWentAndWhatStays) {
    FakeHost host;
    host.removal = {.removed = {{"name", "busybox", 0}, {"blob", "blobs/sha256/aa", 2048}},
                    .in_use = {"sha256:bb"},
                    .warnings = {"odd"}};
    const auto run = run_cli(host, {"rmi", "busybox", "mine:1"});
    EXPECT_EQ(host.refs, (std::vector<std::string>{"busybox", "mine:1"}));
    EXPECT_EQ(run.out,
              "name  -        busybox\n"
              "blob  2.0 KiB  blobs/sha256/aa\n"
              "in use, goes with the next gc after its run: sha256:bb\n"
              "warning: odd\n"
              "freed 2.0 KiB\n");
    const auto report = json::parse(run_cli(host, {"rmi", "--json", "busybox"}).out);
    EXPECT_EQ(report.at("size"), 2048);
    EXPECT_EQ(report.at("removed").at(0).at("what"), "busybox");
    EXPECT_THAT(run_cli(host, {"rmi"}).err, HasSubstr("no image is named"));
}

TEST(Gc, TakesAgeAndSizeAndADryRun) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"gc"}).out, "freed 0 B\n");
    EXPECT_FALSE(host.gc.older_than || host.gc.keep_size || host.gc.dry_run);
    const auto run = run_cli(host, {"gc", "--older-than", "2h", "--keep-size", "10g", "--dry-run"});
    EXPECT_EQ(run.out, "would free 0 B\n");
    EXPECT_EQ(host.gc.older_than, std::chrono::hours(2));
    EXPECT_EQ(host.gc.keep_size, 10_GiB);
    EXPECT_TRUE(host.gc.dry_run);
    EXPECT_THAT(run_cli(host, {"gc", "--older-than", "x"}).err, HasSubstr("--older-than"));
    EXPECT_TRUE(json::parse(run_cli(host, {"gc", "--dry-run", "--json"}).out).at("dry_run").get<bool>());
}

TEST(Save, WritesToAFileAFolderOrStdout) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"save", "a", "b", "-o", "x.tar"}).status, 0);
    EXPECT_EQ(host.save.refs, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(host.save.target, "x.tar");
    EXPECT_LT(host.save.out_fd, 0);
    run_cli(host, {"save", "a", "-o", "-"});
    EXPECT_GE(host.save.out_fd, 0);
    EXPECT_THAT(run_cli(host, {"save", "a"}).err, HasSubstr("no target is named"));
    EXPECT_THAT(run_cli(host, {"save", "-o", "x.tar"}).err, HasSubstr("no image is named"));
}

TEST(Du, AddsUpByImageAndByKind) {
    FakeHost host;
    host.usage = {.images = {{.names = {"busybox"}, .manifest_digest = "sha256:aa", .own = 1024, .shared = 2048}},
                  .blobs = {.count = 3, .size = 1024, .unneeded = 512},
                  .layers = {.count = 1, .size = 2048, .unneeded = 0},
                  .flat = {},
                  .total = 3072};
    const auto run = run_cli(host, {"du"});
    EXPECT_THAT(run.out, HasSubstr("aa      1.0 KiB  2.0 KiB  busybox\n"));
    EXPECT_THAT(run.out, HasSubstr("blobs   3      1.0 KiB  512 B\n"));
    EXPECT_THAT(run.out, HasSubstr("total 3.0 KiB\n"));
    EXPECT_EQ(json::parse(run_cli(host, {"du", "--json"}).out).at("total"), 3072);
}

TEST(KeptImages, FailInTheFormAskedFor) {
    FakeHost host;
    host.error = make_error(ErrorCode::unavailable, "busy", "wait");
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"inspect", "a"}, {"rmi", "a"}, {"gc"}, {"du"}}) {
        EXPECT_EQ(run_cli(host, words).err, "coracle: busy\nhint: wait\n");
        auto as_json = words;
        as_json.emplace_back("--json");
        EXPECT_EQ(json::parse(run_cli(host, as_json).out).at("error").at("message"), "busy");
    }
    EXPECT_EQ(run_cli(host, {"tag", "a", "b"}).status, 125);
    EXPECT_EQ(run_cli(host, {"save", "a", "-o", "b"}).status, 125);
}

TEST(ImportCommand, TakesItsSourceAndTagInAnyOrder) {
    FakeHost host;
    host.images = {busybox()};
    const auto run = run_cli(host, {"import", "b.tar", "--tag", "mine:1"});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.out, "busybox  " + busybox().manifest_digest + "\n");
    EXPECT_EQ(host.imports.at(0).source, "b.tar");
    EXPECT_EQ(host.imports.at(0).tag, "mine:1");
    run_cli(host, {"import", "--", "--odd"});
    EXPECT_EQ(host.imports.at(1).source, "--odd");
    EXPECT_FALSE(host.imports.at(1).tag);
}

TEST(ImportCommand, WantsExactlyOneSource) {
    FakeHost host;
    EXPECT_THAT(run_cli(host, {"import"}).err, HasSubstr("no source is named"));
    EXPECT_THAT(run_cli(host, {"import", "a", "b"}).err, HasSubstr("more than one source"));
    EXPECT_EQ(json::parse(run_cli(host, {"import", "--json"}).out).at("error").at("stage"), "request");
    EXPECT_TRUE(host.imports.empty());
}

TEST(Plan, PrintsWhatTheEngineDecided) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"plan", "-m", "1g", "busybox", "ls", "-l"}).out, "{\"plan\":\"busybox\"}\n");
    EXPECT_EQ(host.requests.at(0).limits.memory, 1_GiB);
    EXPECT_EQ(host.requests.at(0).command.size(), 2U);
    EXPECT_EQ(host.runs, 0);
    EXPECT_EQ(run_cli(host, {"plan", "--memory", "1x", "busybox"}).status, 125);
}

TEST(Bundle, GoesToItsDirectoryWhereverThatIsNamed) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"bundle", "-o", "/b1", "busybox", "ls"}).status, 0);
    EXPECT_EQ(host.bundle_target, "/b1");
    EXPECT_EQ(run_cli(host, {"bundle", "busybox", "-o", "/b2"}).status, 0);
    EXPECT_EQ(host.bundle_target, "/b2");
    EXPECT_TRUE(host.requests.back().command.empty());
    EXPECT_THAT(run_cli(host, {"bundle", "busybox"}).err, HasSubstr("-o DIR"));
    EXPECT_EQ(host.requests.size(), 2U);
}

TEST(Version, HasAJsonForm) {
    FakeHost host;
    EXPECT_THAT(run_cli(host, {"version"}).out, HasSubstr("coracle "));
    EXPECT_EQ(json::parse(run_cli(host, {"version", "--json"}).out).at("schema"), 1);
}

TEST(Completion, KnowsCommandsAndOptions) {
    FakeHost host;
    const auto script = run_cli(host, {"completion", "bash"}).out;
    for (const char* word : {"images", "--memory", "--json", "--store"}) EXPECT_THAT(script, HasSubstr(word));
    EXPECT_EQ(run_cli(host, {"completion", "zsh"}).status, 125);
}

TEST(Printing, ThatFailsIsNotSuccess) {
    FakeHost host;
    const int full = ::open("/dev/full", O_WRONLY);
    const std::vector<std::string> args{"version"};
    EXPECT_EQ(cli::run_cli(args, {.in = 0, .out = full, .err = full}, fake_engines(host)), 125);
    ::close(full);
}

}  // namespace
}  // namespace coracle::testing

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
        for (const char* word : {"run", "import", "images", "plan", "bundle", "version", "--store"}) {
            EXPECT_THAT(run.out, HasSubstr(word));
        }
    }
}

TEST(Help, OfACommandHasUsageOptionsAndExamples) {
    FakeHost host;
    for (const char* command : {"run", "import", "images", "plan", "bundle", "version", "completion"}) {
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
    for (const char* word :
         {"pull", "inspect", "rmi", "gc", "doctor", "ps", "kill", "bench", "batch", "pool", "profile"}) {
        const auto run = run_cli(host, {word, "x"});
        EXPECT_EQ(run.status, 125);
        EXPECT_THAT(run.err, HasSubstr("'" + std::string(word) + "' is not built yet"));
    }
    EXPECT_EQ(json::parse(run_cli(host, {"pull", "--json", "x"}).out).at("error").at("code"), "unsupported");
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

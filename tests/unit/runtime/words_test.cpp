// The runtimes are called in their own words, and what they say when they fail is one line for people.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/command_line.hpp"
#include "runtime/runtime_log.hpp"

namespace coracle::runtime {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> words(plan::RuntimeKind kind, bool manages_cgroups) {
    return run_detached(
        {.kind = kind, .path = "/usr/bin/rt", .version = {}},
        {.id = "r1", .bundle = "/runs/r1", .stage = "/runs/r1/stage", .manages_cgroups = manages_cgroups});
}

TEST(CommandLine, TellsRuncToGiveUpOnCgroups) {
    EXPECT_THAT(words(plan::RuntimeKind::runc, false),
                ElementsAre("/usr/bin/rt", "--root", "/runs/r1/stage/state", "--log", "/runs/r1/stage/runtime.log",
                            "--log-format", "json", "--rootless=true", "run", "--detach", "--preserve-fds", "1",
                            "--pid-file", "/runs/r1/stage/init.pid", "--bundle", "/runs/r1", "r1"));
}

TEST(CommandLine, TellsCrunToLeaveCgroupsAlone) {
    EXPECT_THAT(words(plan::RuntimeKind::crun, false),
                ElementsAre("/usr/bin/rt", "--root", "/runs/r1/stage/state", "--log", "/runs/r1/stage/runtime.log",
                            "--log-format", "json", "--cgroup-manager=disabled", "run", "--detach", "--preserve-fds",
                            "1", "--pid-file", "/runs/r1/stage/init.pid", "--bundle", "/runs/r1", "r1"));
}

TEST(CommandLine, SaysNothingOfCgroupsToARuntimeThatManagesThem) {
    for (const auto kind : {plan::RuntimeKind::runc, plan::RuntimeKind::crun}) {
        const auto line = words(kind, true);
        EXPECT_THAT(line, ::testing::Not(
                              ::testing::Contains(::testing::AnyOf("--rootless=true", "--cgroup-manager=disabled"))));
        EXPECT_EQ(line.size(), 16U);
    }
}

TEST(RuntimeWords, AreTheErrorsOfTheLog) {
    const std::string log = R"({"level":"warning","msg":"lesser"})"
                            "\n"
                            R"({"level":"error","msg":"first"})"
                            "\n"
                            R"({"level":"info","msg":"chatter"})"
                            "\n"
                            R"({"level":"fatal","msg":"second"})"
                            "\n"
                            R"({"level":"panic","msg":"third"})";
    EXPECT_EQ(runtime_words(log, "not used"), "first; second; third");
    EXPECT_EQ(runtime_words(R"({"msg":"crun says no level"})", ""), "crun says no level");
}

TEST(RuntimeWords, AreTheFirstLineOfStderrWhereTheLogSaysNothing) {
    for (const char* log :
         {"", "\n", "no json\n", "[]\n", "{}\n", R"({"level":"error"})", R"({"level":"error","msg":7})",
          R"({"level":"warning","msg":"lesser"})", "{\"level\":\"error\",\"msg\":\"cut of"}) {
        EXPECT_EQ(runtime_words(log, "runc: no such thing\nsecond line\n"), "runc: no such thing") << log;
    }
    EXPECT_EQ(runtime_words("", ""), "");
}

TEST(RuntimeWords, AreBounded) {
    EXPECT_EQ(runtime_words("", std::string(100'000, 'x')).size(), 2000U);
    EXPECT_EQ(runtime_words("{\"msg\":\"" + std::string(100'000, 'x') + "\"}", "").size(), 2000U);
}

}  // namespace
}  // namespace coracle::runtime

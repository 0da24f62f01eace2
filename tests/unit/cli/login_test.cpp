// login and logout: what they hand to the engine, and that a password goes nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <thread>

#include "base/unique_fd.hpp"
#include "cli/prompt.hpp"
#include "support/fake_engine.hpp"
#include "support/test_dir.hpp"

namespace coracle::testing {
namespace {

using test::must;
using test::must_fail;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoginCommand, TakesThePasswordFromStdinWithoutItsLastLineEnd) {
    for (const char* end : {"", "\n", "\r\n"}) {
        FakeHost host;
        const auto run = run_cli(host, {"login", "-u", "anna", "--password-stdin", "r.test:5000"},
                                 std::string("p@ss: w\xC3\xB6rd") + end);
        EXPECT_EQ(run.status, 0) << run.err;
        ASSERT_EQ(host.logins.size(), 1U);
        EXPECT_EQ(host.logins[0].registry, "r.test:5000");
        EXPECT_EQ(host.logins[0].username, "anna");
        EXPECT_EQ(host.logins[0].password, "p@ss: w\xC3\xB6rd");
        EXPECT_TRUE(host.logins[0].verify);
        EXPECT_EQ(run.out, "logged in to r.test:5000 as anna, kept in /home/a/auth.json\n");
        EXPECT_EQ(run.err, "");
    }
}

TEST(LoginCommand, NoVerifyAsksNobody) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"login", "--no-verify", "-u", "anna", "--password-stdin", "r.test"}, "x").status, 0);
    EXPECT_FALSE(host.logins.at(0).verify);
}

TEST(LoginCommand, RefusesWhatIsMissingAndNamesTheFix) {
    const std::pair<std::vector<std::string>, const char*> table[]{
        {{"login"}, "no registry is named"},
        {{"login", "a.test", "b.test"}, "more than one registry"},
        {{"login", "--password-stdin", "r.test"}, "--username"},
        {{"login", "-u", "anna", "r.test"}, "--password-stdin"},
        {{"login", "-u", "anna", "--password-stdin", "r.test"}, "password is empty"},
        {{"login", "-u", "anna", "--password", "geheim", "r.test"}, "unknown option '--password'"},
    };
    for (const auto& [args, words] : table) {
        FakeHost host;
        const auto run = run_cli(host, args);
        EXPECT_EQ(run.status, 125);
        EXPECT_THAT(run.err, HasSubstr(words));
        EXPECT_TRUE(host.logins.empty());
    }
}

TEST(LoginCommand, AFailureShowsNoPassword) {
    FakeHost host;
    host.error = make_error(ErrorCode::denied, "the registry refuses", "check the password");
    const auto run = run_cli(host, {"login", "-u", "anna", "--password-stdin", "r.test"}, "geheim\n");
    EXPECT_EQ(run.status, 125);
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("geheim")));
}

TEST(LoginCommand, TellsWarnings) {
    FakeHost host;
    host.login_warnings = {"another file is read first"};
    const auto run = run_cli(host, {"login", "-u", "anna", "--password-stdin", "r.test"}, "x");
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.err, "coracle: another file is read first\n");
}

TEST(LogoutCommand, IsForOneRegistryOrForAll) {
    FakeHost host;
    EXPECT_EQ(run_cli(host, {"logout", "r.test"}).out, "logged out of r.test\n");
    EXPECT_EQ(host.logouts.at(0).registry, "r.test");
    EXPECT_EQ(run_cli(host, {"logout", "--all"}).out, "logged out of every registry\n");
    EXPECT_FALSE(host.logouts.at(1).registry);
    EXPECT_EQ(run_cli(host, {"logout"}).status, 125);
    EXPECT_EQ(run_cli(host, {"logout", "--all", "r.test"}).status, 125);
    EXPECT_EQ(host.logouts.size(), 2U);
}

// A terminal of the test's own.
struct Terminal {
    base::UniqueFd keyboard;  // what a person types and sees
    base::UniqueFd program;   // what the program has
};

Terminal open_terminal() {
    Terminal terminal{base::UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), {}};
    ::grantpt(terminal.keyboard.get());
    ::unlockpt(terminal.keyboard.get());
    terminal.program.reset(::open(::ptsname(terminal.keyboard.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    return terminal;
}

bool shows_input(const Terminal& terminal) {
    termios now{};
    ::tcgetattr(terminal.program.get(), &now);
    return (now.c_lflag & ECHO) != 0;
}

TEST(Prompt, OfAPasswordIsNotShownAndTheTerminalIsAsBefore) {
    const Terminal terminal = open_terminal();
    ASSERT_TRUE(terminal.program);
    std::thread person([&terminal] {
        while (shows_input(terminal)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        (void)!::write(terminal.keyboard.get(), "geheim\n", 7);
    });
    const auto answer = cli::ask(terminal.program.get(), terminal.program.get(), "Password: ", cli::Echo::off);
    person.join();
    EXPECT_EQ(must(answer), "geheim");
    EXPECT_TRUE(shows_input(terminal));
    std::string seen(256, '\0');
    seen.resize(static_cast<std::size_t>(::read(terminal.keyboard.get(), seen.data(), seen.size())));
    EXPECT_THAT(seen, HasSubstr("Password: "));
    EXPECT_THAT(seen, Not(HasSubstr("geheim")));
}

TEST(Prompt, WithoutATerminalNobodyIsAsked) {
    const base::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    EXPECT_THAT(must_fail(cli::ask(null.get(), null.get(), "x", cli::Echo::off)).message, HasSubstr("no terminal"));
}

}  // namespace
}  // namespace coracle::testing

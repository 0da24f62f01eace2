// Whatever coracle-image does, its caller gets an answer or an error, and lives.
#include "image_program/client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/files.hpp"
#include "support/test_dir.hpp"

namespace coracle::image_program {
namespace {

using test::must;
using test::must_fail;
using ::testing::HasSubstr;

class Client : public ::testing::Test {
protected:
    // A program in coracle-image's place.
    std::filesystem::path program(const std::string& script) {
        dir_.write("program", "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(dir_ / "program", std::filesystem::perms::owner_all);
        return dir_ / "program";
    }
    Error failure(const std::string& script, const std::string& request = "{}\n") {
        return must_fail(run_program(program(script), request, std::nullopt, {}));
    }

    test::TestDir dir_;
};

TEST_F(Client, AProgramThatDoesNotListenIsAnErrorAndNoSigpipe) {
    const Error error = failure("exec <&-; sleep 0.2; exit 3", std::string(8U << 20U, 'x') + "\n");
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_THAT(error.message, HasSubstr("ended with 3"));
}

TEST_F(Client, AProgramThatIsKilledIsToldBySignal) {
    EXPECT_THAT(failure("kill -9 $$").message, HasSubstr("killed by signal 9"));
}

TEST_F(Client, AProgramThatLacksALibraryIsToldWithTheFix) {
    const Error error = failure("exit 127");
    EXPECT_EQ(error.os_errno, ENOEXEC);
    EXPECT_THAT(error.hint, HasSubstr("libisal2"));
}

TEST_F(Client, WordsThatAreNoneAreAnError) {
    EXPECT_EQ(failure("echo no JSON").code, ErrorCode::internal);
    EXPECT_EQ(failure("echo '{\"images\": 7}'").code, ErrorCode::internal);
}

TEST_F(Client, AProgramThatIsNotThereIsAnError) {
    EXPECT_EQ(must_fail(run_program(dir_ / "missing", "{}\n", std::nullopt, {})).code, ErrorCode::not_found);
}

TEST_F(Client, ASignalThatAsksForTheEndKillsTheProgramAndOthersDoNot) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const base::UniqueFd signals(ends[0]);
    base::UniqueFd sender(ends[1]);
    const auto run = [&](const std::string& script) {
        return run_program(program(script), "{}\n", std::nullopt, {}, signals.get());
    };
    const std::array<unsigned char, 2> numbers{SIGWINCH, SIGTERM};
    ASSERT_EQ(::write(sender.get(), &numbers[0], 1), 1);
    EXPECT_TRUE(run("echo '{\"images\": []}'"));
    ASSERT_EQ(::write(sender.get(), &numbers[1], 1), 1);
    EXPECT_EQ(must_fail(run("exec sleep 60")).os_errno, ECANCELED);
    sender.reset();  // nobody is left who could send one
    EXPECT_TRUE(run("echo '{\"images\": []}'"));
}

TEST_F(Client, EventsComeBeforeTheAnswer) {
    std::uint64_t bytes = 0;
    const auto script =
        "read request; printf '%s\\n' '" +
        to_line(PullEvent{.kind = PullEvent::Kind::layer, .digest = "sha256:a", .bytes = 7, .total = 9});
    auto line = script;
    line.pop_back();  // the newline
    const Answer images = must(run_program(program(line + "' '{\"images\": []}'"), "{}\n", std::nullopt,
                                           [&bytes](const PullEvent& event) { bytes = event.bytes; }));
    EXPECT_TRUE(images.empty());
    EXPECT_EQ(bytes, 7U);
}

}  // namespace
}  // namespace coracle::image_program

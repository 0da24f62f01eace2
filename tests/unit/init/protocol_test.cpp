// What coracle and init say to each other arrives as it was said, and half a message is none.
#include "init/protocol.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <tuple>

namespace coracle::init {
namespace {

const Job job{.argv = {"sh", "-c", "", "a\nb"}, .env = {"A=1", "B="}, .cwd = "/w", .seccomp = std::string("\0\1\0", 3)};
const Started started{
    .at_ns = 123'456'789'012,
    .held = {.capabilities = 1ULL << 40U, .no_new_privileges = 1, .seccomp = 2, .namespaces = {"mnt:[1]", "net:[2]"}}};
const Exited exited{.wait_status = 0x8b,
                    .at_ns = 1,
                    .user_us = 2,
                    .system_us = ~0U,
                    .switches_voluntary = 3,
                    .switches_involuntary = 4};

// No prefix of the message is a message: `read` gives nothing for any of them.
template <class Read>
void expect_only_whole(const std::string& bytes, Read read) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read(std::string_view(bytes).substr(0, size)).has_value()) << size << " of " << bytes.size();
    }
    EXPECT_TRUE(read(bytes).has_value());
}

TEST(InitProtocol, AJobArrivesWithEveryByte) {
    const auto read = unpack_job(pack(job));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->argv, job.argv);
    EXPECT_EQ(read->env, job.env);
    EXPECT_EQ(read->cwd, job.cwd);
    EXPECT_EQ(read->seccomp, job.seccomp);
    EXPECT_EQ(read->cpu_seconds, std::nullopt);
    Job limited = job;
    limited.cpu_seconds = 0;
    EXPECT_EQ(unpack_job(pack(limited))->cpu_seconds, 0U);
    EXPECT_TRUE(unpack_job(pack(Job{})).has_value());
}

TEST(InitProtocol, AStartArrivesAsItWasRead) {
    const auto read = unpack_started(pack(started));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->at_ns, started.at_ns);
    EXPECT_EQ(read->held.capabilities, started.held.capabilities);
    EXPECT_EQ(read->held.no_new_privileges, 1);
    EXPECT_EQ(read->held.seccomp, 2);
    EXPECT_EQ(read->held.namespaces, started.held.namespaces);
    Started full = started;
    full.held.stack = 1;
    full.held.cpu = 2;
    full.held.core = 3;
    full.held.cpus = 4;
    full.held.sizes = {{.bytes = 5, .inodes = 6}, {.bytes = 7, .inodes = 8}};
    const Held held = unpack_started(pack(full))->held;
    EXPECT_EQ(std::tie(held.stack, held.cpu, held.core, held.cpus), std::tuple(1U, 2U, 3U, 4U));
    ASSERT_EQ(held.sizes.size(), 2U);
    EXPECT_EQ(held.sizes[1].bytes, 7U);
    EXPECT_EQ(held.sizes[1].inodes, 8U);
    EXPECT_EQ(unpack_started(pack(Started{}))->held.seccomp, -1) << "what could not be read is not 0";
}

TEST(InitProtocol, FailuresEndingsAndSignalsArrive) {
    for (const auto step : {Failed::Step::stdio, Failed::Step::chdir, Failed::Step::seccomp, Failed::Step::exec}) {
        const auto read = unpack_failed(pack(Failed{.step = step, .os_errno = ENOEXEC}));
        ASSERT_TRUE(read);
        EXPECT_EQ(read->step, step);
        EXPECT_EQ(read->os_errno, ENOEXEC);
    }
    const auto end = unpack_exited(pack(exited));
    ASSERT_TRUE(end);
    EXPECT_EQ(end->wait_status, 0x8b);
    EXPECT_EQ(end->at_ns, 1);
    EXPECT_EQ(end->user_us, 2);
    EXPECT_EQ(end->system_us, std::int64_t{0xffffffff});
    EXPECT_EQ(end->switches_voluntary, 3U);
    EXPECT_EQ(end->switches_involuntary, 4U);
    EXPECT_EQ(unpack_signal(pack(Signal{.number = SIGTERM}))->number, SIGTERM);
}

TEST(InitProtocol, EveryMessageSaysItsKind) {
    EXPECT_EQ(kind_of(pack(job)), Kind::job);
    EXPECT_EQ(kind_of(pack(Signal{})), Kind::signal);
    EXPECT_EQ(kind_of(pack(Ready{})), Kind::ready);
    EXPECT_EQ(kind_of(pack(Counter{})), Kind::counter);
    EXPECT_EQ(kind_of(pack(started)), Kind::started);
    EXPECT_EQ(kind_of(pack(Failed{})), Kind::failed);
    EXPECT_EQ(kind_of(pack(exited)), Kind::exited);
}

TEST(InitProtocol, OtherBytesHaveNoKind) {
    EXPECT_EQ(kind_of(""), std::nullopt);
    EXPECT_EQ(kind_of("1234567"), std::nullopt);
    EXPECT_EQ(kind_of(std::string(8, '\0')), std::nullopt);
    EXPECT_EQ(kind_of(std::string("\10\0\0\0\0\0\0\0", 8)), std::nullopt);
    EXPECT_EQ(kind_of(std::string("\1\0\0\0\0\0\0\1", 8)), std::nullopt);
}

TEST(InitProtocol, OneKindIsNotTakenForAnother) {
    EXPECT_FALSE(unpack_job(pack(started)));
    EXPECT_FALSE(unpack_started(pack(job)));
    EXPECT_FALSE(unpack_exited(pack(Failed{})));
    EXPECT_FALSE(unpack_failed(pack(exited)));
    EXPECT_FALSE(unpack_signal(pack(Ready{})));
}

TEST(InitProtocol, HalfAMessageIsNone) {
    expect_only_whole(pack(job), unpack_job);
    expect_only_whole(pack(Signal{.number = 9}), unpack_signal);
    expect_only_whole(pack(started), unpack_started);
    expect_only_whole(pack(Failed{}), unpack_failed);
    expect_only_whole(pack(exited), unpack_exited);
}

}  // namespace
}  // namespace coracle::init

// What coracle tells coracle-image of a pull arrives as it was said.
#include <gtest/gtest.h>

#include "image_program/protocol.hpp"

namespace coracle::image_program {
namespace {

PullJob full_job() {
    PullJob job;
    job.to.store = "/store";
    job.to.ownership = plan::Ownership::subids;
    job.to.maps = {.uids = {{0, 1000, 1}, {1, 100000, 65536}}, .gids = {{0, 1000, 1}}};
    job.to.limits.layers = 7;
    job.request = {.reference = "localhost:5000/app:1",
                   .platform = "linux/arm64",
                   .parallel = 5,
                   .stall_timeout = std::chrono::milliseconds(1500)};
    job.registries.search = {"docker.io"};
    job.registries.plain_http = {"localhost:5000"};
    job.registries.blocked = {"bad.example"};
    job.registries.mirrors = {{"docker.io", {"m.example"}}};
    job.registries.certs_dir = "/certs";
    job.auth_files = {{"/auth.json", true}, {"/other.json", false}};
    return job;
}

TEST(PullJobOnTheWire, KeepsEveryField) {
    const std::string line = to_line(full_job());
    const auto read = parse_job(line);
    ASSERT_TRUE(read);
    const auto* const job = std::get_if<PullJob>(&read.value());
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(to_line(*job), line);
    EXPECT_EQ(job->request.reference, "localhost:5000/app:1");
    EXPECT_EQ(job->request.stall_timeout, std::chrono::milliseconds(1500));
    EXPECT_EQ(job->to.limits.layers, 7U);
    EXPECT_EQ(job->registries.mirrors.at("docker.io").front(), "m.example");
    EXPECT_TRUE(job->auth_files.front().required);
}

TEST(PullJobOnTheWire, IsOneLine) {
    const std::string line = to_line(full_job());
    EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(PullJobOnTheWire, WhatIsMissingIsAnError) {
    for (const char* text : {"{\"act\":\"pull\"}", "{}", "[]", "pull", ""}) EXPECT_FALSE(parse_job(text)) << text;
}

TEST(LoginJobOnTheWire, KeepsEveryField) {
    LoginJob asked{.host = "r.test:5000",
                   .credentials = {.username = "anna", .password = "p@ss:w\xC3\xB6rd\n", .identity_token = {}}};
    asked.registries.plain_http = {"r.test:5000"};
    const std::string line = to_line(asked);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto read = parse_job(line);
    ASSERT_TRUE(read);
    const auto* const job = std::get_if<LoginJob>(&read.value());
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(to_line(*job), line);
    EXPECT_EQ(job->credentials.password, asked.credentials.password);
}

TEST(PullEventOnTheWire, KeepsItsKindAndFigures) {
    for (const auto kind : {PullEvent::Kind::manifest, PullEvent::Kind::layer, PullEvent::Kind::present}) {
        const auto read =
            parse_message(to_line(PullEvent{.kind = kind, .digest = "sha256:x", .bytes = 5, .total = 1ULL << 40U}));
        ASSERT_TRUE(read);
        const auto* const event = std::get_if<PullEvent>(&read.value());
        ASSERT_NE(event, nullptr);
        EXPECT_EQ(event->kind, kind);
        EXPECT_EQ(event->bytes, 5U);
        EXPECT_EQ(event->total, 1ULL << 40U);
    }
}

}  // namespace
}  // namespace coracle::image_program

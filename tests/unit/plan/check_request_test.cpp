// A request that contradicts itself is refused by a message that names the flag and a hint that names the fix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "plan/concerns.hpp"
#include "support/planning.hpp"
#include "support/test_dir.hpp"

namespace coracle::plan {
namespace {

using test::must;
using test::must_fail;
using ::testing::HasSubstr;

using Change = std::function<void(Request&)>;

Request changed(const Change& change) {
    Request request;
    change(request);
    return request;
}

struct Refusal {
    const char* message;
    const char* hint;
    Change change;
};

void expect_refusals(const std::vector<Refusal>& table, ErrorCode code) {
    for (const Refusal& row : table) {
        const Error error = must_fail(check_request(changed(row.change)));
        EXPECT_EQ(error.code, code) << row.message;
        EXPECT_THAT(error.message, HasSubstr(row.message));
        EXPECT_THAT(error.hint, HasSubstr(row.hint)) << row.message;
    }
}

Change volume(const char* guest) {
    return [guest](Request& request) { request.volumes = {{.host = "/srv", .guest = guest}}; };
}

TEST(CheckRequest, RefusesLimitsThatNoProgramCanLiveWith) {
    expect_refusals({{"--memory 4095k", "at least 4m", [](Request& r) { r.limits.memory = 4095_KiB; }},
                     {"--memory-swap 511m", "at least 512m", [](Request& r) { r.limits.memory_swap = 511_MiB; }},
                     {"--cpus 0.009", "0.01 or more", [](Request& r) { r.limits.cpus = Cpus{9}; }},
                     {"--cpus 8192.001", "as many as this host", [](Request& r) { r.limits.cpus = Cpus{8'192'001}; }},
                     {"--pids 0", "1 or more", [](Request& r) { r.limits.pids = 0; }},
                     {"--pids 4194241", "less", [](Request& r) { r.limits.pids = 4'194'241; }},
                     {"--pids 18446744073709551615", "less", [](Request& r) { r.limits.pids = ~0ULL; }}},
                    ErrorCode::invalid_request);
}

TEST(CheckRequest, AllowsTheLeastAndTheMostThatItNames) {
    must(check_request(changed([](Request& r) {
        r.limits.memory = 4_MiB;
        r.limits.cpus = Cpus{10};
        r.limits.pids = 1;
    })));
    must(check_request(changed([](Request& r) { r.limits.pids = 4'194'240; })));
    must(check_request(changed([](Request& r) { r.limits.cpus = Cpus{8'192'000}; })));
    must(check_request(Request{}));
}

TEST(CheckRequest, RefusesPathsThatAreNotThePlaceTheySeem) {
    const char* const fix = "write it like /data";
    expect_refusals(
        {{"--workdir 'work'", fix, [](Request& r) { r.workdir = "work"; }},
         {"--workdir ''", fix, [](Request& r) { r.workdir = ""; }},
         {"--workdir '/a/../b'", fix, [](Request& r) { r.workdir = "/a/../b"; }},
         {"--volume 'data'", fix, volume("data")},
         {"--volume '/data/..'", fix, volume("/data/..")},
         {"--volume '/", fix, [](Request& r) { r.volumes = {{.host = "/", .guest = std::string("/a\0b", 4)}}; }},
         {"--volume '/xxx", fix,
          [](Request& r) { r.volumes = {{.host = "/", .guest = "/" + std::string(4096, 'x')}}; }},
         {"--tmpfs 'scratch'", fix, [](Request& r) { r.tmpfs = {{.guest = "scratch"}}; }}},
        ErrorCode::invalid_request);
}

TEST(CheckRequest, KeepsItsOwnPlacesInEverySpelling) {
    for (const char* place :
         {"/", "//", "/.", "/proc", "/proc/", "/proc/self", "//proc", "/./proc/.", "/sys", "/sys/fs/cgroup", "/dev",
          "/dev/", "/dev//.", "/.coracle-init", "/coracle", "/coracle/script"}) {
        expect_refusals({{place, "another path", volume(place)},
                         {place, "another path", [&](Request& r) { r.tmpfs = {{.guest = place}}; }}},
                        ErrorCode::invalid_request);
    }
}

TEST(CheckRequest, LeavesTheNeighboursOfItsPlacesToTheCaller) {
    for (const char* place :
         {"/process", "/system", "/devices", "/dev/shm", "/coracle2", "/data/proc", "/tmp", "/workspace"}) {
        must(check_request(changed(volume(place))));
    }
}

TEST(CheckRequest, RefusesNamesThatAreNoVariables) {
    for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0B", 3)}) {
        expect_refusals({{"--env '", "NAME=value", [&](Request& r) { r.env = {{.name = name, .value = "x"}}; }}},
                        ErrorCode::invalid_request);
    }
    must(check_request(changed([](Request& r) { r.env = {{"A", "b=c"}, {"lower.case-too", ""}}; })));
}

TEST(CheckRequest, RefusesToRequireWhatIsNoLimit) {
    expect_refusals({{"--require 'ram'", "memory, cpus, pids or all",
                      [](Request& r) {
                          r.require = {"memory", "ram"};
                      }}},
                    ErrorCode::invalid_request);
    must(check_request(changed([](Request& r) { r.require = {"memory", "cpus", "pids", "all"}; })));
}

TEST(CheckRequest, NetworksThatAreNotBuiltYetAreUnsupportedByName) {
    expect_refusals({{"--network bridge", "--network none", [](Request& r) { r.network = NetworkMode::bridge; }},
                     {"--network egress", "--network host", [](Request& r) { r.network = NetworkMode::egress; }}},
                    ErrorCode::unsupported);
    must(check_request(changed([](Request& r) { r.network = NetworkMode::host; })));
}

TEST(CheckRequest, WhatIsNotReadCannotBeWatched) {
    testing::Planning world;
    world.request.output_mode = OutputMode::passthrough;
    world.request.limits.idle_time = Duration(1);
    EXPECT_THAT(world.refusal().message, HasSubstr("--idle-timeout"));
    world.request.limits.idle_time.reset();
    world.request.output_excess = OutputExcess::kill;
    EXPECT_THAT(world.refusal().message, HasSubstr("--output-excess"));
    world.request.output_mode = OutputMode::capture;
    (void)world.plan();
}

}  // namespace
}  // namespace coracle::plan

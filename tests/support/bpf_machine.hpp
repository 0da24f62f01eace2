// Runs a compiled seccomp program on a made-up system call, as the kernel would, and tells its answer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace coracle::testing {

struct SystemCall {
    std::uint32_t arch = 0;
    int number = 0;
    std::array<std::uint64_t, 6> args{};
};

// A call of this machine's architecture by name ("openat"); number -1 where there is none of that name.
SystemCall native_call(std::string_view name, std::array<std::uint64_t, 6> args = {});

// "allow", "kill_process", "errno 38", or "broken: why" for a program that the kernel would not load.
std::string answer_of(const std::string& program, const SystemCall& call);

}  // namespace coracle::testing

// Sizes, processor shares and durations as types, and the one place where their spellings are parsed.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle {

using Duration = std::chrono::nanoseconds;

struct Bytes {
    std::uint64_t count = 0;
    auto operator<=>(const Bytes&) const = default;
};

// Processor time per wall time, in thousandths of one CPU: Cpus{1500} is one and a half CPUs.
struct Cpus {
    std::uint32_t milli = 0;
    auto operator<=>(const Cpus&) const = default;
};

inline namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{n << 10U}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{n << 20U}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{n << 30U}; }
}  // namespace literals

// "512m", "1g", "64k", "1.5g", "512MiB", "1048576", "100b": units of 1024, case does not matter. Error:
// invalid_request, naming the text. Zero and negative sizes are refused.
Result<Bytes> parse_bytes(std::string_view text);
// "1", "0.5", "1.5": at most three digits after the point. Error: invalid_request; zero is refused.
Result<Cpus> parse_cpus(std::string_view text);
// "2s", "500ms", "1m30s", "1.5h", "300" (seconds), "0.5". Error: invalid_request; zero is refused.
Result<Duration> parse_duration(std::string_view text);

// "0-2,5": numbers of CPUs, as in cpuset.cpus; ascending, each once. Error: invalid_request.
Result<std::vector<unsigned>> parse_cpu_list(std::string_view text);

// The shortest exact spelling that the parser above reads back: "512m", "1.5", "2s".
std::string to_string(Bytes size);
std::string to_string(Cpus cpus);
std::string to_string(Duration duration);
std::string to_string(const std::vector<unsigned>& cpus);

}  // namespace coracle

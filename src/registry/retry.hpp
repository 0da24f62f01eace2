// When a request is tried again, and how long is waited before: doubling, with jitter, or as the registry asks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coracle::registry {

using Milliseconds = std::chrono::milliseconds;

// A registry that asks for more patience than this is given up: an error now is better than a program that sleeps.
inline constexpr Milliseconds longest_wait = std::chrono::seconds(60);
inline constexpr int most_attempts = 6;

// 429 (too many requests), 408 and the 5xx that time may heal; 501 and 505 stay what they are.
bool is_worth_a_retry(long status);

// "120" or an HTTP date (RFC 9110, 10.2.3), from `now` in seconds since 1970. No value: not understood.
std::optional<Milliseconds> parse_retry_after(std::string_view header, std::int64_t now);

// Before attempt 2, 3, ...: 0.2 s, 0.4 s, ... 5 s, of which `random` (0 to 1) takes away up to half, so that many
// callers do not come back at the same moment.
Milliseconds backoff(int failed_attempts, double random);

}  // namespace coracle::registry

// Implements the rules for trying again.
#include "registry/retry.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace coracle::registry {

bool is_worth_a_retry(long status) {
    return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

std::optional<Milliseconds> parse_retry_after(std::string_view header, std::int64_t now) {
    std::int64_t seconds = 0;
    const char* const end = header.data() + header.size();
    const auto read = std::from_chars(header.data(), end, seconds);
    if (read.ec == std::errc::result_out_of_range) return Milliseconds::max();
    if (read.ec != std::errc() || read.ptr != end) {
        const std::time_t date = curl_getdate(std::string(header).c_str(), nullptr);
        if (date < 0) return std::nullopt;
        seconds = date - now;
    }
    constexpr std::int64_t year = std::int64_t{366} * 24 * 3600;
    return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, year));
}

Milliseconds backoff(int failed_attempts, double random) {
    constexpr Milliseconds first{200};
    constexpr Milliseconds most{5000};
    const Milliseconds full = std::min(first * (1 << std::clamp(failed_attempts - 1, 0, 10)), most);
    return Milliseconds(static_cast<Milliseconds::rep>(static_cast<double>(full.count()) * (1.0 - 0.5 * random)));
}

}  // namespace coracle::registry

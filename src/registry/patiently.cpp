// Implements the patience with servers.
#include "registry/patiently.hpp"

#include <ctime>
#include <random>
#include <thread>

#include "base/try.hpp"

namespace coracle::registry {

namespace {

double random_share() {
    thread_local std::minstd_rand engine{std::random_device{}()};
    return std::uniform_real_distribution<>(0.0, 1.0)(engine);
}

}  // namespace

Error unexpected_status(std::string_view server, long status) {
    const ErrorCode code = is_worth_a_retry(status) ? ErrorCode::unavailable : ErrorCode::corrupt;
    return make_error(code, std::string(server) + ": it answers with status " + std::to_string(status));
}

Result<> wait_before_retry(int failed_attempts, const std::string& asked) {
    Milliseconds wait = backoff(failed_attempts, random_share());
    if (const auto wanted = parse_retry_after(asked, std::time(nullptr))) {
        if (*wanted > longest_wait)
            return make_error(ErrorCode::unavailable,
                              "the registry asks to come back in " +
                                  std::to_string(std::chrono::ceil<std::chrono::minutes>(*wanted).count()) +
                                  " minutes");
        wait = std::max(wait, *wanted);
    }
    std::this_thread::sleep_for(wait);
    return {};
}

Result<std::unique_ptr<Response>> send_patiently(const Http& http, const HttpRequest& request) {
    for (int attempt = 1;; ++attempt) {
        auto sent = http.send(request);
        if (sent && !is_worth_a_retry(sent.value()->status())) return sent;
        if (!sent && sent.error().code != ErrorCode::unavailable) return sent;
        std::string asked;
        if (sent) {
            asked = sent.value()->head().field("retry-after");
            sent = unexpected_status(request.url.origin.authority(),
                                     sent.value()->status());  // the connection is free meanwhile
        }
        if (attempt == most_attempts)
            return std::move(sent).within("after " + std::to_string(most_attempts) + " attempts");
        TRY_OK(wait_before_retry(attempt, asked).within(sent.error().message));
    }
}

}  // namespace coracle::registry

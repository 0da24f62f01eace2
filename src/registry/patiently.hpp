// Sends a request until it is answered with something that another attempt would not heal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "registry/http.hpp"

namespace coracle::registry {

// Answers 408, 429 and 5xx and failing connections are tried again (registry/retry.hpp). After the last attempt: the
// Error, or unavailable with the status.
Result<std::unique_ptr<Response>> send_patiently(const Http& http, const HttpRequest& request);

// Waits before the attempt that follows the `failed_attempts`th failure. `asked` is a Retry-After header, may be empty.
// Error: unavailable where the server asks for more than longest_wait.
Result<> wait_before_retry(int failed_attempts, const std::string& asked);

// unavailable where time may heal it, else corrupt.
Error unexpected_status(std::string_view server, long status);

}  // namespace coracle::registry

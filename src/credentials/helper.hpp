// Asks a credential helper, docker-credential-NAME, as docker's own clients do.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "credentials/credentials.hpp"

namespace coracle::credentials {

// No value: the helper runs and has none for `server`. Error: invalid_request (NAME is no program's name), not_found
// (it is not installed), unavailable (it fails or does not end in time), corrupt (it answers something else).
Result<std::optional<Credentials>> ask_helper(const std::string& name, std::string_view server,
                                              std::chrono::milliseconds patience);

}  // namespace coracle::credentials

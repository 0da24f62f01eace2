// Answers a registry's challenges with what the caller's credentials give: nothing, a password, or a token.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "credentials/credentials.hpp"
#include "registry/challenge.hpp"
#include "registry/http.hpp"
#include "registry/location.hpp"

namespace coracle::registry {

// One repository's right to pull, or a login without one, shared by all threads that ask for its content.
class Authorizer {
public:
    // `http` must outlive it. `origin` is the registry's: what it says about tokens is followed under its transport.
    Authorizer(const Http& http, Location location, Origin origin, std::optional<credentials::Credentials> credentials)
        : http_(http),
          location_(std::move(location)),
          origin_(std::move(origin)),
          credentials_(std::move(credentials)) {}

    // The Authorization header for the next request; empty as long as the registry did not ask for one.
    std::string header() const;
    // Follows the challenges of an answer 401 to a request that carried `refused`, unless another thread already did.
    // Error: denied, with the fix, where the registry wants more than there is.
    Result<> renew(const std::vector<std::string>& challenges, const std::string& refused);

private:
    Result<std::string> answer(const Challenge& challenge, bool first) const;
    Result<std::string> fetch_token(const Challenge& challenge) const;
    Result<HttpRequest> token_request(const Challenge& challenge) const;
    // Empty for a login, which asks for the right to nothing.
    std::string scope() const;
    Error refusal(std::string_view why) const;

    const Http& http_;
    const Location location_;
    const Origin origin_;
    const std::optional<credentials::Credentials> credentials_;
    mutable std::mutex mutex_;
    std::string header_;
};

}  // namespace coracle::registry

// The web addresses that a pull visits: checked before use, with the origin that decides who may see credentials.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coracle/error.hpp"

namespace coracle::registry {

// Scheme, host and port: what RFC 6454 calls an origin. Credentials never leave the one they were meant for.
struct Origin {
    std::string scheme;  // "https" or "http"
    std::string host;    // lower case, "::1" without brackets
    std::uint16_t port = 0;
    bool operator==(const Origin&) const = default;

    bool is_plain() const { return scheme == "http"; }
    // As references, settings and certs.d spell it: "registry.example", "localhost:5000".
    std::string authority() const;
};

struct Url {
    std::string text;
    Origin origin;
};

// An absolute http or https address of at most 16 KiB without a user name in it. Error: corrupt.
Result<Url> parse_url(std::string_view text);
// What a Location header of `base` means: absolute, or relative to it.
Result<Url> resolve_url(const Url& base, std::string_view location);

// Percent-encodes everything but unreserved characters, for a value of a query or a form.
std::string encode_value(std::string_view text);

}  // namespace coracle::registry

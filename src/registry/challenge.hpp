// Reads WWW-Authenticate headers: what a registry wants to see before it answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coracle::registry {

struct Challenge {
    enum class Scheme { basic, bearer };
    Scheme scheme = Scheme::basic;
    std::string realm;    // for bearer the address of the token server
    std::string service;  // may be empty
};

// The challenges of one header value that coracle can answer, in order; others and malformed ones are passed over
// (RFC 9110, 11.6.1: a list of schemes, each with a list of parameters, both separated by commas).
std::vector<Challenge> parse_challenges(std::string_view header);

// The strongest of all headers' challenges: bearer before basic. No value: none that coracle can answer.
std::optional<Challenge> choose_challenge(const std::vector<std::string>& headers);

}  // namespace coracle::registry

// Implements the helpers' protocol: the server's name on stdin, JSON on stdout.
#include "credentials/helper.hpp"

#include <algorithm>

#include "base/program.hpp"
#include "base/try.hpp"
#include "oci/json.hpp"

namespace coracle::credentials {

namespace {

// The name comes out of a file and becomes the name of a program: nothing that could lead elsewhere than into PATH.
bool is_helper_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits);
}

// Its words are not shown: they may be the secret.
Result<Credentials> read_answer(const std::string& answer, const std::string& program) {
    const auto document = oci::parse_json(answer, program);
    if (!document || !document.value().is_object()) {
        return make_error(ErrorCode::corrupt, program + ": its answer is not a JSON object");
    }
    TRY(const oci::Fields fields, oci::Fields::of(document.value(), program + ": its answer"));
    TRY(std::string username, fields.string_or_empty("Username"));
    TRY(std::string secret, fields.required_string("Secret"));
    if (username == "<token>") return Credentials{.username = {}, .password = {}, .identity_token = std::move(secret)};
    return Credentials{.username = std::move(username), .password = std::move(secret), .identity_token = {}};
}

}  // namespace

Result<std::optional<Credentials>> ask_helper(const std::string& name, std::string_view server,
                                              std::chrono::milliseconds patience) {
    if (!is_helper_name(name)) {
        return make_error(ErrorCode::invalid_request, "the credential helper's name has characters that no helper has",
                          "write NAME of a program docker-credential-NAME");
    }
    const std::string program = "docker-credential-" + name;
    auto end = base::run_program({.argv = {program, "get"},
                                  .input = std::string(server),
                                  .inherit_env = true,
                                  .most_output = 64_KiB,
                                  .patience = patience});
    if (!end && end.error().code == ErrorCode::not_found) {
        return std::move(end).error().with_hint("install it, or take it out of the auth file");
    }
    if (!end) return std::move(end).error();
    if (end.value().succeeded()) {
        TRY(Credentials found, read_answer(end.value().output, program));
        return std::optional(std::move(found));
    }
    // The words by which docker's clients know that there is nothing (docker-credential-helpers, errors.go).
    if (end.value().output.find("credentials not found") != std::string::npos) return std::optional<Credentials>();
    return make_error(ErrorCode::unavailable, program + " fails for '" + std::string(server) + "'",
                      "see why: printf '" + std::string(server) + "' | " + program + " get");
}

}  // namespace coracle::credentials

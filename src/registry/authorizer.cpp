// Implements Basic (RFC 7617) and the distribution specification's bearer tokens, with OAuth2 for identity tokens.
#include "registry/authorizer.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/try.hpp"
#include "oci/json.hpp"
#include "registry/patiently.hpp"

namespace coracle::registry {

namespace {

constexpr Bytes most_token_answer = 1_MiB;
constexpr std::size_t longest_token = 65536;

std::string basic(const credentials::Credentials& credentials) {
    return "Basic " + base::base64(credentials.username + ":" + credentials.password);
}

// A token becomes a header line of ours.
bool is_clean(const std::string& token) {
    return !token.empty() && token.size() <= longest_token &&
           std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}

Result<std::string> token_of(const std::string& text) {
    TRY(const oci::Json document, oci::parse_json(text, "the token server's answer"));
    TRY(const oci::Fields fields, oci::Fields::of(document, "the token server's answer"));
    TRY(std::string token, fields.string_or_empty("token"));
    if (token.empty()) {
        TRY(token, fields.string_or_empty("access_token"));
    }
    if (is_clean(token)) return token;
    return make_error(ErrorCode::corrupt, "the token server's answer holds no usable token");
}

}  // namespace

std::string Authorizer::header() const {
    const std::lock_guard lock(mutex_);
    return header_;
}

std::string Authorizer::scope() const {
    return location_.repository.empty() ? std::string() : "repository:" + location_.repository + ":pull";
}

Error Authorizer::refusal(std::string_view why) const {
    return make_error(ErrorCode::denied, to_string(location_) + ": " + std::string(why), access_hint(location_));
}

Result<> Authorizer::renew(const std::vector<std::string>& challenges, const std::string& refused) {
    const std::lock_guard lock(mutex_);
    if (header_ != refused) return {};
    const auto challenge = choose_challenge(challenges);
    if (!challenge) return refusal("the registry refuses, and does not say what it wants to see");
    TRY(header_, answer(*challenge, refused.empty()));
    return {};
}

Result<std::string> Authorizer::answer(const Challenge& challenge, bool first) const {
    if (challenge.scheme == Challenge::Scheme::bearer) {
        TRY(const std::string token, fetch_token(challenge).within("token for " + location_.host));
        return "Bearer " + token;
    }
    if (!credentials_ || credentials_->username.empty()) return refusal("the registry wants a user and a password");
    if (!first) return refusal("the registry refuses the user '" + credentials_->username + "' or the password");
    return basic(*credentials_);
}

Result<HttpRequest> Authorizer::token_request(const Challenge& challenge) const {
    TRY(Url realm, parse_url(challenge.realm));
    TRY_OK(http_.check_transport(realm, origin_));
    HttpRequest request{
        .url = realm, .headers = {"Accept: application/json"}, .authorization = {}, .form = {}, .decode = true};
    if (credentials_ && !credentials_->identity_token.empty()) {
        request.form = "grant_type=refresh_token&client_id=coracle&service=" + encode_value(challenge.service) +
                       "&scope=" + encode_value(scope()) +
                       "&refresh_token=" + encode_value(credentials_->identity_token);
        return request;
    }
    std::string text = realm.text;
    const auto add = [&text](std::string_view key, const std::string& value) {
        if (value.empty()) return;
        text += text.find('?') == std::string::npos ? '?' : '&';
        text += std::string(key) + "=" + encode_value(value);
    };
    add("scope", scope());
    add("service", challenge.service);
    TRY(request.url, parse_url(text));
    if (credentials_ && !credentials_->username.empty()) request.authorization = basic(*credentials_);
    return request;
}

Result<std::string> Authorizer::fetch_token(const Challenge& challenge) const {
    TRY(const HttpRequest request, token_request(challenge));
    TRY(const auto response, send_patiently(http_, request));
    const long status = response->status();
    if (status == 400 || status == 401 || status == 403)
        return refusal(credentials_ ? "the token server refuses the login"
                                    : "the token server refuses anonymous users");
    if (status != 200) return unexpected_status(request.url.origin.authority(), status);
    TRY(const std::string text, response->read_all(most_token_answer, "the token server's answer"));
    return token_of(text);
}

}  // namespace coracle::registry

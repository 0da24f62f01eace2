// Implements addresses over libcurl's own parser, so that what is checked is what is visited.
#include "registry/url.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/try.hpp"

namespace coracle::registry {

namespace {

constexpr std::size_t longest_url = 16384;

using Parts = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Error bad_url(std::string_view text, std::string_view why) {
    return make_error(ErrorCode::corrupt, "address '" + std::string(text.substr(0, 200)) + "': " + std::string(why));
}

std::string part(const Parts& parts, CURLUPart which, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(parts.get(), which, &text, flags) != CURLUE_OK) return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

// libcurl undoes percent signs in a host, and what comes out may mean something else where it is put together again.
bool is_host(std::string_view host) {
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("-._:[]").find(c) != std::string_view::npos;
    });
}

Result<Url> finish(const Parts& parts, std::string_view text) {
    if (!part(parts, CURLUPART_USER).empty() || !part(parts, CURLUPART_PASSWORD).empty())
        return bad_url("...", "holds a user name or password");
    Url url{.text = part(parts, CURLUPART_URL), .origin = {}};
    url.origin.scheme = part(parts, CURLUPART_SCHEME);
    url.origin.host = part(parts, CURLUPART_HOST);
    if (url.origin.scheme != "https" && url.origin.scheme != "http") return bad_url(text, "is neither https nor http");
    std::transform(url.origin.host.begin(), url.origin.host.end(), url.origin.host.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::string port = part(parts, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    const auto read = std::from_chars(port.data(), port.data() + port.size(), url.origin.port);
    if (!is_host(url.origin.host) || read.ec != std::errc() || url.origin.port == 0)
        return bad_url(text, "has no host");
    return url;
}

// libcurl lets some control characters through; in a header of ours they would start another one.
bool is_clean(std::string_view text) {
    return text.size() <= longest_url &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

Result<Url> parse(Parts parts, std::string_view text) {
    if (parts == nullptr) return make_error(ErrorCode::unavailable, "out of memory");
    if (!is_clean(text)) return bad_url(text.substr(0, 0), "is too long or holds characters that no address has");
    const CURLUcode code = curl_url_set(parts.get(), CURLUPART_URL, std::string(text).c_str(), 0);
    if (code != CURLUE_OK) return bad_url(text, curl_url_strerror(code));
    return finish(parts, text);
}

}  // namespace

std::string Origin::authority() const {
    const bool usual = port == (is_plain() ? 80 : 443);
    return usual ? host : host + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) { return parse(Parts(curl_url(), &curl_url_cleanup), text); }

Result<Url> resolve_url(const Url& base, std::string_view location) {
    Parts parts(curl_url(), &curl_url_cleanup);
    if (parts == nullptr || curl_url_set(parts.get(), CURLUPART_URL, base.text.c_str(), 0) != CURLUE_OK)
        return bad_url(base.text, "cannot be a base");
    return parse(std::move(parts), location);
}

std::string encode_value(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view unreserved = "-._~";
    std::string encoded;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           unreserved.find(c) != std::string_view::npos;
        const auto byte = static_cast<unsigned char>(c);
        if (plain) {
            encoded += c;
        } else {
            encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return encoded;
}

}  // namespace coracle::registry

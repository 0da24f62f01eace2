// Implements redirects, trust and the pool of connections.
#include "registry/http.hpp"

#include <curl/curl.h>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::registry {

namespace {

constexpr int most_redirects = 10;
constexpr std::size_t most_idle = 16;
constexpr Bytes most_certificates = 1_MiB;

bool is_redirect(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A certificate of our own would replace libcurl's bundle; its folder of system certificates stays in use, where this
// build of libcurl has one.
Result<std::string> authorities_of(const credentials::Certificates& certificates) {
    std::string pem;
    if (certificates.authorities.empty()) return pem;
    const curl_version_info_data* const curl = curl_version_info(CURLVERSION_NOW);
    if (curl->capath == nullptr && curl->cainfo != nullptr) {
        TRY(pem, base::read_file(curl->cainfo, most_certificates));
    }
    for (const auto& file : certificates.authorities) {
        TRY(const std::string text, base::read_file(file, most_certificates));
        pem += text + "\n";
    }
    return pem;
}

Error without_end(const Url& url) {
    return make_error(ErrorCode::corrupt,
                      url.origin.authority() + ": more than " + std::to_string(most_redirects) + " redirects");
}

}  // namespace

Response::~Response() { http_.give_back(std::move(exchange_)); }

Result<std::string> Response::read_all(Bytes bound, std::string_view what) {
    std::string text;
    std::vector<char> buffer(65536);
    for (;;) {
        TRY(const std::size_t got, read(buffer));
        if (got == 0) return text;
        if (text.size() + got > bound.count)
            return make_error(ErrorCode::corrupt, std::string(what) + " is larger than " + to_string(bound));
        text.append(buffer.data(), got);
    }
}

Http::Http(policy::RegistrySettings settings, Patience patience)
    : settings_(std::move(settings)),
      patience_(patience),
      certificate_folders_(credentials::find_certificate_folders(settings_.certs_dir)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

Http::~Http() = default;

Result<std::unique_ptr<Exchange>> Http::take_exchange() const {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
        auto exchange = std::move(idle_.back());
        idle_.pop_back();
        return exchange;
    }
    auto exchange = Exchange::create(patience_);
    if (exchange == nullptr) return make_error(ErrorCode::unavailable, "no memory for a connection");
    return exchange;
}

void Http::give_back(std::unique_ptr<Exchange> exchange) const {
    exchange->end();
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(exchange));
}

Result<> Http::check_transport(const Url& next, const Origin& from) const {
    if (!next.origin.is_plain()) return {};
    const std::string leads = from.authority() + " leads to " + next.origin.authority();
    if (!from.is_plain()) return make_error(ErrorCode::denied, leads + " without TLS");
    if (next.origin.host == from.host || settings_.is_plain_http(next.origin.authority())) return {};
    return make_error(ErrorCode::denied, leads + " without TLS",
                      "if that is meant, name it under registries: plain_http in the configuration");
}

Result<Hop> Http::make_hop(const HttpRequest& request, const Url& url, bool with_authorization) const {
    TRY(const auto certificates, credentials::find_certificates(certificate_folders_, url.origin.authority()));
    Hop hop{.url = url,
            .headers = request.headers,
            .form = request.form,
            .decode = request.decode,
            .authorities = {},
            .certificate = {},
            .key = {}};
    if (with_authorization && !request.authorization.empty())
        hop.headers.push_back("Authorization: " + request.authorization);
    if (url.origin.is_plain()) return hop;
    TRY(hop.authorities, authorities_of(certificates));
    if (certificates.client) {
        hop.certificate = certificates.client->certificate.string();
        hop.key = certificates.client->key.string();
    }
    return hop;
}

Result<std::unique_ptr<Response>> Http::send(const HttpRequest& request) const {
    TRY(auto exchange, take_exchange());
    Url url = request.url;
    // Once away, a server that leads back gets no credentials either: it would choose what they are used for.
    bool at_origin = true;
    for (int hops = 0; hops <= most_redirects; ++hops) {
        TRY(const Hop hop, make_hop(request, url, at_origin));
        TRY_OK(exchange->begin(hop));
        const std::string location = exchange->head().field("location");
        if (!is_redirect(exchange->head().status) || location.empty())
            return std::unique_ptr<Response>(new Response(*this, std::move(exchange), at_origin));
        if (request.form)
            return make_error(ErrorCode::denied,
                              url.origin.authority() + ": it redirects a request that holds a token");
        TRY(const Url next, resolve_url(url, location).within(url.origin.authority() + " redirects"));
        TRY_OK(check_transport(next, url.origin));
        at_origin = at_origin && next.origin == url.origin;
        url = next;
    }
    return without_end(request.url);
}

}  // namespace coracle::registry

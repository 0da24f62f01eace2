// Asks web servers: connections that are kept, redirects that carry no credentials away, certificates of each server.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "credentials/certificates.hpp"
#include "layer/byte_source.hpp"
#include "policy/registry_settings.hpp"
#include "registry/exchange.hpp"

namespace coracle::registry {

struct HttpRequest {
    Url url;
    std::vector<std::string> headers;
    std::string authorization;        // value of the header; goes to url's origin and nowhere else
    std::optional<std::string> form;  // by POST; then a redirect is an Error
    bool decode = false;
};

class Http;

// An answer; its body is the source. Gives its connection back when it goes.
class Response final : public layer::ByteSource {
public:
    ~Response() override;
    Response(const Response&) = delete;
    Response& operator=(const Response&) = delete;

    long status() const { return exchange_->head().status; }
    const Head& head() const { return exchange_->head(); }
    // Whether it comes from the origin that was asked, and not from one it led to.
    bool is_from_origin() const { return from_origin_; }
    Result<std::size_t> read(std::span<char> buffer) override { return exchange_->read(buffer); }
    // The whole body, or an Error (corrupt) where it is larger than `bound`.
    Result<std::string> read_all(Bytes bound, std::string_view what);

private:
    friend class Http;
    Response(const Http& http, std::unique_ptr<Exchange> exchange, bool from_origin)
        : http_(http), exchange_(std::move(exchange)), from_origin_(from_origin) {}

    const Http& http_;
    std::unique_ptr<Exchange> exchange_;
    bool from_origin_;
};

// For many threads at once; outlives its Responses.
class Http {
public:
    Http(policy::RegistrySettings settings, Patience patience);
    ~Http();

    // Follows redirects; any status that is none comes back as a Response.
    Result<std::unique_ptr<Response>> send(const HttpRequest& request) const;

    const policy::RegistrySettings& settings() const { return settings_; }
    // Whether `next` may be visited on behalf of `from`: TLS always; plain HTTP only from plain HTTP, and then on the
    // same host or a host that the settings name.
    Result<> check_transport(const Url& next, const Origin& from) const;

private:
    friend class Response;
    Result<std::unique_ptr<Exchange>> take_exchange() const;
    void give_back(std::unique_ptr<Exchange> exchange) const;
    Result<Hop> make_hop(const HttpRequest& request, const Url& url, bool with_authorization) const;

    policy::RegistrySettings settings_;
    Patience patience_;
    std::vector<std::filesystem::path> certificate_folders_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Exchange>> idle_;
};

}  // namespace coracle::registry

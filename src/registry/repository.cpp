// Implements requests to a repository.
#include "registry/repository.hpp"

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "oci/json.hpp"
#include "oci/media_type.hpp"
#include "registry/blob_source.hpp"
#include "registry/patiently.hpp"

namespace coracle::registry {

namespace {

constexpr Bytes most_error_text = 64_KiB;
constexpr std::size_t longest_remark = 200;
constexpr int most_renewals = 2;

// One header: some registries look at the first alone.
std::string accepted_manifests() {
    return "Accept: " + std::string(oci::media_type::manifest) + ", " + std::string(oci::media_type::index) +
           ", application/vnd.docker.distribution.manifest.v2+json"
           ", application/vnd.docker.distribution.manifest.list.v2+json";
}

// The specification's error document: {"errors": [{"code": ..., "message": ...}]}.
std::string remark_of(const std::string& text) {
    const oci::Json document = oci::Json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("errors")) return {};
    const oci::Json& errors = document["errors"];
    if (!errors.is_array() || errors.empty() || !errors.front().is_object()) return {};
    const oci::Json& first = errors.front();
    if (!first.contains("message") || !first["message"].is_string()) return {};
    return first["message"].get_ref<const std::string&>().substr(0, longest_remark);
}

// Error: corrupt where the registry's word on the document is not what we see.
Result<> check_digest_header(const std::string& header, const std::string& text) {
    if (header.empty()) return {};
    TRY(const oci::Digest said, oci::Digest::parse(header).within("Docker-Content-Digest"));
    TRY(const oci::Digest found, content::digest_of(text, said.algorithm()));
    if (said == found) return {};
    return make_error(ErrorCode::corrupt,
                      "its content has the digest " + found.str() + ", the registry says " + said.str());
}

}  // namespace

Result<std::unique_ptr<Repository>> Repository::create(const Http& http, Location location,
                                                       std::optional<credentials::Credentials> credentials) {
    TRY(const Url url, repository_url(location, http.settings()));
    return std::unique_ptr<Repository>(new Repository(http, std::move(location), url, std::move(credentials)));
}

Error Repository::refusal(Response& response) const {
    const long status = response.status();
    auto text = response.read_all(most_error_text, "the answer");
    std::string remark = text ? remark_of(text.value()) : std::string();
    if (!remark.empty()) remark = ": " + remark;
    if (status == 404) return make_error(ErrorCode::not_found, location_.host + " does not have it" + remark);
    if (status != 401 && status != 403)
        return unexpected_status(url_.origin.authority(), status).within("the registry" + remark);
    if (response.is_from_origin())
        return make_error(ErrorCode::denied, location_.host + " refuses" + remark, access_hint(location_));
    return make_error(ErrorCode::denied, "the server that " + location_.host + " redirects to refuses");
}

Result<std::unique_ptr<Response>> Repository::get(const std::string& path, std::vector<std::string> headers,
                                                  bool decode) const {
    TRY(const Url url, parse_url(url_.text + path));
    for (int renewals = 0;; ++renewals) {
        const std::string authorization = authorizer_.header();
        TRY(auto response,
            send_patiently(
                http_, {.url = url, .headers = headers, .authorization = authorization, .form = {}, .decode = decode}));
        const long status = response->status();
        if ((status >= 200 && status < 300) || status == 416) return response;
        // Only the registry itself may ask for credentials, not a server that it leads to.
        if (status != 401 || !response->is_from_origin() || renewals == most_renewals) return refusal(*response);
        const auto challenges = response->head().all("www-authenticate");
        response.reset();
        TRY_OK(authorizer_.renew(challenges, authorization));
    }
}

Result<> Repository::log_in() const {
    TRY_OK(get("", {}, true));
    if (!authorizer_.header().empty()) return {};
    return make_error(ErrorCode::unsupported, location_.host + " does not ask who somebody is");
}

Result<Document> Repository::manifest(const std::string& tag_or_digest) const {
    TRY(const auto response, get("/manifests/" + tag_or_digest, {accepted_manifests()}, true));
    if (response->status() != 200) return unexpected_status(url_.origin.authority(), response->status());
    TRY(std::string text, response->read_all(oci::max_document, "the manifest"));
    TRY_OK(check_digest_header(response->head().field("docker-content-digest"), text));
    TRY(oci::Digest digest, content::digest_of(text));
    return Document{std::move(text), response->head().field("content-type"), std::move(digest)};
}

Result<std::unique_ptr<layer::ByteSource>> Repository::blob(const oci::Descriptor& descriptor) const {
    auto source = std::make_unique<BlobSource>(*this, descriptor.digest, descriptor.size);
    TRY_OK(source->open());
    return std::unique_ptr<layer::ByteSource>(std::move(source));
}

}  // namespace coracle::registry

// One repository of a registry over the OCI distribution protocol: its manifests and its blobs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layer/byte_source.hpp"
#include "oci/descriptor.hpp"
#include "registry/authorizer.hpp"
#include "registry/http.hpp"
#include "registry/location.hpp"

namespace coracle::registry {

// A manifest or index as it came: its digest is of exactly these bytes.
struct Document {
    std::string text;
    std::string content_type;  // what the header says; a stranger's word
    oci::Digest digest;
};

// For many threads at once.
class Repository {
public:
    // `http` must outlive it.
    static Result<std::unique_ptr<Repository>> create(const Http& http, Location location,
                                                      std::optional<credentials::Credentials> credentials);

    const Location& location() const { return location_; }

    // Of a location without a repository: asks the registry itself whether it takes the credentials. Error: denied,
    // unavailable; unsupported where it never asks for any.
    Result<> log_in() const;

    // By tag or digest; at most 4 MiB, and proven against the digest that the registry tells of it. Error: not_found,
    // denied, unavailable, corrupt.
    Result<Document> manifest(const std::string& tag_or_digest) const;
    // The bytes of a blob, never more than the descriptor says, continued after a break; its digest is for the reader
    // to prove. Lives no longer than the repository.
    Result<std::unique_ptr<layer::ByteSource>> blob(const oci::Descriptor& descriptor) const;

    // An answer 2xx or 416 below the repository's address, challenges answered, everything else an Error.
    Result<std::unique_ptr<Response>> get(const std::string& path, std::vector<std::string> headers, bool decode) const;

private:
    Repository(const Http& http, Location location, const Url& url, std::optional<credentials::Credentials> credentials)
        : http_(http),
          location_(location),
          url_(url),
          authorizer_(http, location, url.origin, std::move(credentials)) {}
    Error refusal(Response& response) const;

    const Http& http_;
    const Location location_;
    const Url url_;
    mutable Authorizer authorizer_;
};

}  // namespace coracle::registry

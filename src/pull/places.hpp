// The repositories that may have an image, mirrors first: each is asked until one gives what was wanted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "credentials/credentials.hpp"
#include "registry/repository.hpp"

namespace coracle::pull {

// A place and what it wants to be told.
struct Place {
    registry::Location location;
    std::optional<credentials::Credentials> credentials;
};

// One meaning of a reference: the location that gives the image its name, and where it is asked for.
struct Target {
    registry::Location location;
    std::vector<Place> places;  // mirrors, then the location itself
};

// Looks the credentials up, which may run helper programs. What a reader should know is added to `warnings`.
Result<Target> make_target(const registry::Location& location, const policy::RegistrySettings& settings,
                           const credentials::Sources& sources, std::vector<std::string>& warnings);

class Places {
public:
    // `http` must outlive it.
    static Result<Places> create(const registry::Http& http, const std::vector<Place>& places);

    // The Errors are those of the last place, the registry itself.
    Result<registry::Document> manifest(const std::string& tag) const;
    // A manifest or index that is proven to be what the descriptor says; the size too, unless it is 0 (not known).
    Result<registry::Document> manifest(const oci::Descriptor& descriptor) const;
    // A small blob, proven as well.
    Result<std::string> document(const oci::Descriptor& descriptor) const;
    Result<std::unique_ptr<layer::ByteSource>> blob(const oci::Descriptor& descriptor) const;

private:
    // The first good answer of `ask`, else the last Error.
    template <class Ask>
    auto first_of(const Ask& ask) const;

    std::vector<std::unique_ptr<registry::Repository>> repositories_;
};

}  // namespace coracle::pull

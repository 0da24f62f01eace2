// From an image's name to the places where it may be: registry, repository, mirrors.
#pragma once

#include <string>
#include <vector>

#include "oci/reference.hpp"
#include "policy/registry_settings.hpp"
#include "registry/url.hpp"

namespace coracle::registry {

// A registry and a repository on it, as settings and auth files spell them: "docker.io", "library/busybox".
struct Location {
    std::string host;
    std::string repository;
    bool operator==(const Location&) const = default;
};

std::string to_string(const Location& location);

// The locations that a reference may mean: its own, or one on each registry of the settings' search list. Error:
// invalid_request for a short name without such a list and for a bare digest.
Result<std::vector<Location>> locate(const oci::Reference& reference, const policy::RegistrySettings& settings);

// Where a location's content is asked for: its mirrors in the order of the settings ("host" or "host/prefix"), then the
// registry itself. Error: denied for a location that is blocked; a blocked mirror is left out.
Result<std::vector<Location>> with_mirrors(const Location& location, const policy::RegistrySettings& settings);

// Error: denied where the settings block it.
Result<> check_allowed(const Location& location, const policy::RegistrySettings& settings);

// "https://registry-1.docker.io/v2/library/busybox", without a repository ".../v2/"; plain HTTP only where the settings
// name the host.
Result<Url> repository_url(const Location& location, const policy::RegistrySettings& settings);

// What to do where it refuses: a login is known to be one by its lack of a repository.
std::string access_hint(const Location& location);

// How the store calls what was found at `location`.
std::string name_in_store(const oci::Reference& reference, const Location& location);

}  // namespace coracle::registry

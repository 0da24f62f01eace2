// Implements where images are.
#include "registry/location.hpp"

#include "base/try.hpp"

namespace coracle::registry {

namespace {

constexpr std::string_view hub = "docker.io";

Location on(std::string host, std::string repository) {
    if (host == "index.docker.io" || host == "registry-1.docker.io") host = hub;
    if (host == hub && repository.find('/') == std::string::npos) repository = "library/" + repository;
    return {std::move(host), std::move(repository)};
}

// A mirror may keep another registry's images below a path of its own.
Location on_mirror(const std::string& mirror, const std::string& repository) {
    const std::size_t slash = mirror.find('/');
    if (slash == std::string::npos) return on(mirror, repository);
    return on(mirror.substr(0, slash), mirror.substr(slash + 1) + "/" + repository);
}

}  // namespace

Result<std::vector<Location>> locate(const oci::Reference& reference, const policy::RegistrySettings& settings) {
    if (reference.name.empty())
        return make_error(ErrorCode::invalid_request, "a digest alone names no registry",
                          "write it as REGISTRY/NAME@" + reference.digest->str());
    if (reference.names_registry()) {
        const std::size_t slash = reference.name.find('/');
        return std::vector{on(reference.name.substr(0, slash), reference.name.substr(slash + 1))};
    }
    if (settings.search.empty())
        return make_error(ErrorCode::invalid_request, "'" + reference.familiar() + "' names no registry",
                          "write it as REGISTRY/" + reference.familiar() + ", such as docker.io/" +
                              reference.familiar() + ", or list registries under registries: search");
    std::vector<Location> locations;
    for (const std::string& host : settings.search) locations.push_back(on_mirror(host, reference.name));
    return locations;
}

Result<> check_allowed(const Location& location, const policy::RegistrySettings& settings) {
    if (!settings.is_blocked(location.host, location.repository)) return {};
    return make_error(ErrorCode::denied, to_string(location) + ": the configuration blocks it",
                      "see registries: blocked");
}

Result<std::vector<Location>> with_mirrors(const Location& location, const policy::RegistrySettings& settings) {
    TRY_OK(check_allowed(location, settings));
    std::vector<Location> places;
    for (const std::string& mirror : settings.mirrors_of(location.host, location.repository)) {
        Location place = on_mirror(mirror, location.repository);
        if (!settings.is_blocked(place.host, place.repository)) places.push_back(std::move(place));
    }
    places.push_back(location);
    return places;
}

Result<Url> repository_url(const Location& location, const policy::RegistrySettings& settings) {
    const std::string server = location.host == hub ? "registry-1.docker.io" : location.host;
    const std::string scheme = settings.is_plain_http(location.host) ? "http" : "https";
    return parse_url(scheme + "://" + server + "/v2/" + location.repository);
}

std::string to_string(const Location& location) {
    return location.repository.empty() ? location.host : location.host + "/" + location.repository;
}

std::string access_hint(const Location& location) {
    if (location.repository.empty()) return "check the user and the password";
    return "check the name, or log in: coracle login " + location.host;
}

std::string name_in_store(const oci::Reference& reference, const Location& location) {
    if (reference.names_registry()) return reference.str();
    oci::Reference full = reference;
    full.name = location.host + "/" + location.repository;
    return full.str();
}

}  // namespace coracle::registry

// Implements the questions about one registry.
#include "policy/registry_settings.hpp"

#include <algorithm>

#include "oci/reference.hpp"

namespace coracle::policy {

namespace {

std::string full_name(std::string_view host, std::string_view repository) {
    return std::string(host) + "/" + std::string(repository);
}

}  // namespace

bool RegistrySettings::is_plain_http(std::string_view host) const {
    return std::find(plain_http.begin(), plain_http.end(), host) != plain_http.end();
}

bool RegistrySettings::is_blocked(std::string_view host, std::string_view repository) const {
    const std::string name = full_name(host, repository);
    return std::any_of(blocked.begin(), blocked.end(),
                       [&](const std::string& prefix) { return oci::covers(prefix, name); });
}

std::vector<std::string> RegistrySettings::mirrors_of(std::string_view host, std::string_view repository) const {
    const std::string name = full_name(host, repository);
    const std::vector<std::string>* best = nullptr;
    std::size_t longest = 0;
    for (const auto& [prefix, places] : mirrors) {
        if (!oci::covers(prefix, name) || prefix.size() < longest) continue;
        longest = prefix.size();
        best = &places;
    }
    return best == nullptr ? std::vector<std::string>() : *best;
}

}  // namespace coracle::policy

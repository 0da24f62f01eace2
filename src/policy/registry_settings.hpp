// What the configuration says about registries: where short names are looked for, and how each host is spoken to.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coracle::policy {

// Hosts are written as in references: "docker.io", "registry.example:5000". `blocked` and the keys of `mirrors` may go
// on with a part of the repository's path: "registry.example/team" stands for all that is below it.
struct RegistrySettings {
    std::vector<std::string> search;      // for names without a host, tried in this order; empty: they are refused
    std::vector<std::string> plain_http;  // hosts that are spoken to without TLS
    std::vector<std::string> blocked;     // never asked
    std::map<std::string, std::vector<std::string>> mirrors;  // tried in this order before the registry itself
    std::optional<std::filesystem::path> certs_dir;           // DIR/<host[:port]>/*.crt, before the host's own certs.d

    bool is_plain_http(std::string_view host) const;
    bool is_blocked(std::string_view host, std::string_view repository) const;
    // Of the longest key that covers the repository; empty where none does.
    std::vector<std::string> mirrors_of(std::string_view host, std::string_view repository) const;
};

}  // namespace coracle::policy

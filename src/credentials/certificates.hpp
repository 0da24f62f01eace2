// Finds the certificates that belong to one registry in the certs.d folders of coracle, podman and docker.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::credentials {

struct ClientCertificate {
    std::filesystem::path certificate;  // NAME.cert
    std::filesystem::path key;          // NAME.key
};

struct Certificates {
    std::vector<std::filesystem::path> authorities;  // *.crt: trusted for this registry besides the system's own
    std::optional<ClientCertificate> client;         // the first pair by name
};

// `configured` (registries.certs_dir), the user's $XDG_CONFIG_HOME/coracle/certs.d and containers/certs.d, then
// /etc/coracle, /etc/containers and /etc/docker/certs.d.
std::vector<std::filesystem::path> find_certificate_folders(const std::optional<std::filesystem::path>& configured);

// Of the first folder that has a directory for `host` ("registry.example:5000"); empty where none has. Error: denied
// where it may not be read, invalid_request for a NAME.cert without its NAME.key.
Result<Certificates> find_certificates(const std::vector<std::filesystem::path>& folders, std::string_view host);

}  // namespace coracle::credentials

// Finds what a registry wants to be told: user and password, or a token, in the auth files of coracle, podman and
// docker.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::credentials {

// Never printed, and in no Error: messages name the file, the registry and the user.
struct Credentials {
    std::string username;
    std::string password;
    std::string identity_token;  // an OAuth2 refresh token; then there need be no password
};

// Where to look, first to last; the first file that has something for the registry decides.
struct Sources {
    struct File {
        std::filesystem::path path;
        bool required = false;  // the caller named it: that it is missing is an Error
    };
    std::vector<File> files;
    std::chrono::milliseconds helper_timeout = std::chrono::seconds(30);
};

// `authfile` (--authfile) alone where it is given; else $REGISTRY_AUTH_FILE alone where it is set; else podman's
// $XDG_RUNTIME_DIR/containers/auth.json, own_auth_file() and docker's $DOCKER_CONFIG/config.json.
Sources find_sources(const std::optional<std::filesystem::path>& authfile);

// $XDG_CONFIG_HOME/coracle/auth.json, or ~/.config/coracle/auth.json. No value: this process has no home.
std::optional<std::filesystem::path> own_auth_file();

// For `host` ("docker.io", "registry.example:5000") and a repository on it ("library/busybox"; may be empty). No value:
// nobody has any, the registry is asked as an anonymous user. What a reader should know, such as a file that others may
// read, is added to `warnings`. Error: corrupt (a file that is no auth file), unavailable (a helper that fails), ...
Result<std::optional<Credentials>> find_credentials(const Sources& sources, std::string_view host,
                                                    std::string_view repository, std::vector<std::string>& warnings);

}  // namespace coracle::credentials

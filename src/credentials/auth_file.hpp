// One auth file (podman's auth.json, docker's config.json), read strictly and without ever quoting it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "credentials/credentials.hpp"
#include "oci/json.hpp"

namespace coracle::credentials {

// The name that docker's files give its own registry.
inline constexpr std::string_view docker_hub_key = "https://index.docker.io/v1/";

// A registry as users and files write it -> as references write it: "https://index.docker.io/v1/" -> "docker.io",
// "https://registry.example:5000" -> "registry.example:5000"; a repository's path behind the host stays.
std::string normal_registry(std::string_view written);

class AuthFile {
public:
    // No value: there is no such file.
    static Result<std::optional<AuthFile>> read(const std::filesystem::path& path);
    static Result<AuthFile> parse(std::string_view text, const std::filesystem::path& path);

    // What `auths` has under the longest key that covers "host/repository". No value: nothing, or an empty entry.
    Result<std::optional<Credentials>> entry(std::string_view name) const;
    // The helper that `credHelpers` names for "host/repository", and the one that `credsStore` names for all.
    Result<std::optional<std::string>> helper(std::string_view name) const;
    Result<std::string> store() const;  // empty: none

    // Under the key that the registry has already, else under its own name. All else stays.
    Result<> put(const std::string& registry, const Credentials& added);
    // Every spelling of the registry. False: there was none.
    Result<bool> remove(const std::string& registry);
    Result<bool> remove_all();
    std::string text() const;

    bool others_may_read() const { return others_may_read_; }

private:
    AuthFile(oci::Json document, std::string name) : document_(std::move(document)), name_(std::move(name)) {}

    Result<oci::Json*> auths();

    oci::Json document_;
    std::string name_;  // in messages
    bool others_may_read_ = false;
};

}  // namespace coracle::credentials

// Implements the order in which auth files and helpers are asked.
#include "credentials/credentials.hpp"

#include <unistd.h>

#include <cstdlib>

#include "base/try.hpp"
#include "base/user_dirs.hpp"
#include "credentials/auth_file.hpp"
#include "credentials/helper.hpp"

namespace coracle::credentials {

namespace {

namespace fs = std::filesystem;
using Found = std::optional<Credentials>;

// podman's: a file that goes with the session.
fs::path session_auth_file() {
    const auto runtime = base::directory_in_env("XDG_RUNTIME_DIR");
    const fs::path folder =
        runtime ? *runtime / "containers" : fs::path("/run/containers") / std::to_string(::geteuid());
    return folder / "auth.json";
}

std::optional<fs::path> docker_config() {
    if (const auto named = base::directory_in_env("DOCKER_CONFIG")) return *named / "config.json";
    const auto home = base::directory_in_env("HOME");
    return home ? std::optional(*home / ".docker/config.json") : std::nullopt;
}

// Docker's tools log in to docker.io under another name; which one a helper knows depends on who stored it.
std::vector<std::string_view> names_for_helpers(std::string_view host) {
    if (host == "docker.io") return {docker_hub_key, host};
    return {host};
}

Result<Found> ask(const std::string& helper, std::string_view host, std::chrono::milliseconds patience) {
    for (const std::string_view server : names_for_helpers(host)) {
        TRY(Found found, ask_helper(helper, server, patience));
        if (found) return found;
    }
    return Found();
}

// The helper of all registries may be one that this machine lacks, in a file that came from another; that must not
// stand in the way of a registry that needs no credentials.
Found ask_store(const std::string& store, std::string_view host, std::chrono::milliseconds patience,
                std::vector<std::string>& warnings) {
    auto found = ask(store, host, patience);
    if (found) return std::move(found).value();
    warnings.push_back("credsStore: " + found.error().message);
    return Found();
}

class Search {
public:
    Search(std::string_view host, std::string_view repository, std::chrono::milliseconds patience,
           std::vector<std::string>& warnings)
        : host_(normal_registry(host)),
          name_(repository.empty() ? host_ : host_ + "/" + std::string(repository)),
          patience_(patience),
          warnings_(warnings) {}

    Result<Found> in(const Sources::File& source) {
        auto read = AuthFile::read(source.path);
        // su(1) leaves the other user's session behind in the environment.
        if (!read && read.error().code == ErrorCode::denied && !source.required) {
            warnings_.push_back("credentials: " + read.error().message);
            return Found();
        }
        TRY(const auto file, std::move(read));
        if (!file && !source.required) return Found();
        if (!file) {
            return make_error(ErrorCode::not_found, "the auth file '" + source.path.string() + "' is not there",
                              "name another with --authfile, or make it: coracle login --authfile FILE REGISTRY");
        }
        return in(*file, source.path.string()).within("credentials for '" + host_ + "'");
    }

private:
    Result<Found> in(const AuthFile& file, const std::string& path) {
        TRY(const auto helper, file.helper(name_));
        if (helper) {
            TRY(Found found, ask(*helper, host_, patience_).within("'" + path + "'"));
            if (found) return found;
        }
        TRY(Found found, file.entry(name_));
        if (found && file.others_may_read()) {
            warnings_.push_back("'" + path + "' holds passwords and other users may read it: chmod 600 it");
        }
        if (found) return found;
        TRY(const std::string store, file.store());
        return store.empty() ? Found() : ask_store(store, host_, patience_, warnings_);
    }

    std::string host_;
    std::string name_;
    std::chrono::milliseconds patience_;
    std::vector<std::string>& warnings_;
};

}  // namespace

std::optional<fs::path> own_auth_file() {
    const auto home = base::config_home();
    return home ? std::optional(*home / "coracle/auth.json") : std::nullopt;
}

Sources find_sources(const std::optional<fs::path>& authfile) {
    Sources sources;
    const char* const named = std::getenv("REGISTRY_AUTH_FILE");
    if (authfile) {
        sources.files.push_back({.path = *authfile, .required = true});
    } else if (named != nullptr && *named != '\0') {
        sources.files.push_back({.path = named});
    } else {
        sources.files.push_back({.path = session_auth_file()});
        if (auto own = own_auth_file()) sources.files.push_back({.path = *std::move(own)});
        if (auto docker = docker_config()) sources.files.push_back({.path = *std::move(docker)});
    }
    return sources;
}

Result<Found> find_credentials(const Sources& sources, std::string_view host, std::string_view repository,
                               std::vector<std::string>& warnings) {
    Search search(host, repository, sources.helper_timeout, warnings);
    for (const Sources::File& file : sources.files) {
        TRY(Found found, search.in(file));
        if (found) return found;
    }
    return Found();
}

}  // namespace coracle::credentials

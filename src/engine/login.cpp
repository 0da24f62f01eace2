// Logs in to registries and out: asks the registry, then changes the auth file.
#include "credentials/login.hpp"

#include <cstdlib>

#include "base/try.hpp"
#include "credentials/credentials.hpp"
#include "engine/host_engine.hpp"
#include "image_program/client.hpp"

namespace coracle::engine {

namespace {

// The file that a login changes: the one that was named, else coracle's own.
Result<std::filesystem::path> file_to_change(const EngineOptions& options) {
    if (options.authfile) return *options.authfile;
    const char* const named = std::getenv("REGISTRY_AUTH_FILE");
    if (named != nullptr && *named != '\0') return std::filesystem::path(named);
    if (auto own = credentials::own_auth_file()) return *std::move(own);
    return make_error(ErrorCode::not_found, "this process has no home in which credentials could be kept",
                      "set HOME, or name a file with --authfile");
}

// A file that is read earlier and has something for the registry hides what was just stored.
void warn_of_earlier(const credentials::Sources& sources, const std::filesystem::path& file,
                     const std::string& registry, std::vector<std::string>& warnings) {
    for (const auto& source : sources.files) {
        if (source.path == file) return;
        std::vector<std::string> unheard;
        const auto found = credentials::find_credentials({.files = {source}}, registry, {}, unheard);
        if (found && found.value()) {
            warnings.push_back("'" + source.path.string() + "' is read first and has other credentials for " +
                               registry);
        }
    }
}

}  // namespace

Result<> HostEngine::ask_registry(const std::string& registry, const LoginRequest& request) const {
    TRY(const auto program, image_program_path());
    const image_program::LoginJob job{
        .host = registry.substr(0, registry.find('/')),
        .credentials = {.username = request.username, .password = request.password, .identity_token = {}},
        .registries = configuration_.config.registries};
    TRY_OK(image_program::run_program(program, image_program::to_line(job), std::nullopt, {}));
    return {};
}

Result<LoginDone> HostEngine::login(const LoginRequest& request) const {
    TRY(const std::string registry, credentials::parse_registry(request.registry));
    if (request.username.find(':') != std::string::npos) {
        return make_error(ErrorCode::invalid_request, "a user's name cannot have a ':' in it",
                          "it ends the name where name and password are sent together (RFC 7617)");
    }
    TRY(const auto file, file_to_change(options_));
    LoginDone done{.file = file, .warnings = {}};
    if (request.verify) {
        Result<> asked = ask_registry(registry, request);
        // Where nobody can say whether they are right they are kept as they are.
        if (!asked && asked.error().code == ErrorCode::unsupported) {
            done.warnings.push_back("the login is kept without a check: " + asked.error().message);
        } else if (!asked) {
            Error error = std::move(asked).error();
            if (error.hint.empty()) error.hint = "--no-verify keeps it without asking the registry";
            return error;
        }
    }
    TRY_OK(credentials::store_credentials(
        file, registry, {.username = request.username, .password = request.password, .identity_token = {}}));
    warn_of_earlier(credentials::find_sources(options_.authfile), file, registry, done.warnings);
    return done;
}

Result<LoginDone> HostEngine::logout(const LogoutRequest& request) const {
    TRY(const auto file, file_to_change(options_));
    LoginDone done{.file = file, .warnings = {}};
    if (!request.registry) {
        TRY_OK(credentials::remove_all_credentials(file));
        return done;
    }
    TRY(const std::string registry, credentials::parse_registry(*request.registry));
    TRY(const bool removed, credentials::remove_credentials(file, registry));
    std::vector<std::string> unheard;
    const auto left =
        credentials::find_credentials(credentials::find_sources(options_.authfile), registry, {}, unheard);
    if (left && left.value()) {
        done.warnings.push_back("another tool's auth file still has credentials for " + registry +
                                ": log out with that tool too");
    } else if (!removed) {
        return make_error(ErrorCode::not_found, "'" + file.string() + "' has no credentials for " + registry);
    }
    return done;
}

}  // namespace coracle::engine

// Implements the reading of configuration files.
#include "engine/configuration.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/user_dirs.hpp"

namespace coracle::engine {

namespace {

namespace fs = std::filesystem;
using Found = std::optional<policy::Config>;

constexpr Bytes most_config_text = 1_MiB;

// Whoever can write the file decides what runs under it: only root and, for a user's own, that user.
Result<> check_owner(int fd, const fs::path& path, bool users_own) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error("stat '" + path.string() + "'", errno);
    const bool owned = status.st_uid == 0 || (users_own && status.st_uid == ::geteuid());
    if (owned && (status.st_mode & 022U) == 0) return {};
    const std::string owner = users_own ? "you" : "root";
    return make_error(ErrorCode::denied, "'" + path.string() + "' can be written by others than " + owner,
                      users_own ? "chmod go-w it, or make it your own" : "chown root it and chmod go-w it");
}

Result<policy::Config> parse_file(int fd, const fs::path& path) {
    TRY(const std::string text, base::read_all(fd, most_config_text, path.string()));
    return policy::parse_config(text, path.string());
}

Result<Found> read_if_there(const fs::path& path, bool users_own) {
    auto fd = base::open_regular_at(AT_FDCWD, path.string());
    if (!fd && (fd.error().os_errno == ENOENT || fd.error().os_errno == ENOTDIR)) return Found();
    // setpriv(1) and runuser(1) leave the HOME of the other user behind: that file is not this user's.
    if (!fd && users_own && fd.error().code == ErrorCode::denied) return Found();
    if (!fd) return std::move(fd).error();
    TRY_OK(check_owner(fd.value().get(), path, users_own));
    TRY(policy::Config config, parse_file(fd.value().get(), path));
    return Found(std::move(config));
}

// May be a pipe: `--config <(...)` is the caller's own.
Result<policy::Config> read_named(const fs::path& path) {
    TRY(const base::UniqueFd fd, base::open_file_at(AT_FDCWD, path.string(), O_RDONLY | O_NOCTTY).within("--config"));
    return parse_file(fd.get(), path);
}

std::optional<fs::path> user_file(const EngineOptions& options) {
    if (options.user_config) return options.user_config;
    const auto home = base::config_home();
    return home ? std::optional(*home / "coracle/config.yaml") : std::nullopt;
}

// Ceilings that hold nobody must not look as if they did.
void lay_over(Configuration& all, const policy::Config& upper, const fs::path& path, const fs::path& system) {
    if (policy::sets_ceilings(upper)) {
        all.warnings.push_back("'" + path.string() + "': ceilings are set in '" + system.string() + "' alone");
    }
    all.config = policy::overlaid(all.config, upper);
}

}  // namespace

Result<Configuration> read_configuration(const EngineOptions& options) {
    Configuration all;
    TRY(auto system, read_if_there(options.system_config, false));
    if (system) all.config = *std::move(system);
    if (const auto path = user_file(options)) {
        TRY(const auto user, read_if_there(*path, true));
        if (user) lay_over(all, *user, *path, options.system_config);
    }
    if (options.config) {
        TRY(const auto named, read_named(*options.config));
        lay_over(all, named, *options.config, options.system_config);
    }
    return all;
}

}  // namespace coracle::engine

// Implements the choice of directories.
#include "engine/places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/user_dirs.hpp"

namespace coracle::engine {

namespace {

namespace fs = std::filesystem;

fs::path default_store(bool root) {
    if (root) return "/var/lib/coracle";
    if (const auto data = base::directory_in_env("XDG_DATA_HOME")) return *data / "coracle";
    if (const auto home = base::directory_in_env("HOME")) return *home / ".local/share/coracle";
    return "/tmp/coracle-store-" + std::to_string(::geteuid());
}

fs::path default_runs(bool root) {
    if (root) return "/run/coracle";
    const auto runtime = base::directory_in_env("XDG_RUNTIME_DIR");
    if (runtime && ::access(runtime->c_str(), W_OK) == 0) return *runtime / "coracle";
    return "/tmp/coracle-runs-" + std::to_string(::geteuid());
}

// Others can make names in /tmp: what lies there must be a directory of ours that nobody else writes to.
Result<> check_private(const fs::path& directory) {
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0) return os_error("stat '" + directory.string() + "'", errno);
    if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 022U) == 0) return {};
    return make_error(ErrorCode::denied, "'" + directory.string() + "' is not a private directory of this user",
                      "remove it, or set XDG_RUNTIME_DIR to a directory of your own");
}

}  // namespace

Result<Places> find_places(const EngineOptions& options) {
    const bool root = ::geteuid() == 0;
    Places places{.store = options.store.value_or(default_store(root)),
                  .runs = options.runs.value_or(default_runs(root))};
    // Absolute: the keeper resolves them in another working directory.
    std::error_code ignored;
    places.store = fs::absolute(places.store, ignored).lexically_normal();
    places.runs = fs::absolute(places.runs, ignored).lexically_normal();
    TRY_OK(base::make_dirs(places.runs.parent_path()));
    TRY_OK(base::make_dirs(places.runs, 0711));
    TRY_OK(check_private(places.runs));
    return places;
}

}  // namespace coracle::engine

// Implements the changes of auth files.
#include "credentials/login.hpp"

#include <fcntl.h>

#include <functional>

#include "base/base64.hpp"
#include "base/file_lock.hpp"
#include "base/files.hpp"
#include "base/try.hpp"
#include "credentials/auth_file.hpp"
#include "oci/reference.hpp"

namespace coracle::credentials {

namespace {

namespace fs = std::filesystem;
using oci::Json;

// The file that a chain of links ends in: renaming over a link would cut it off from what it stands for.
fs::path link_target(const fs::path& file) {
    std::error_code ignored;
    const fs::path target = fs::weakly_canonical(file, ignored);
    return target.empty() ? file : target;
}

// Reads, changes and replaces. The change says whether there is something to write.
Result<bool> change(const fs::path& named, const std::function<Result<bool>(AuthFile&)>& act) {
    const fs::path file = link_target(named);
    const fs::path folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
    TRY_OK(base::make_dirs(folder, 0700));
    TRY(const base::UniqueFd dir, base::open_dir(folder));
    const std::string name = file.filename().string();
    TRY(const base::FileLock lock, base::FileLock::acquire(dir.get(), name + ".lock"));
    TRY(auto found, AuthFile::read(file));
    if (!found) {
        TRY(found, AuthFile::parse("", file));
    }
    TRY(const bool changed, act(*found));
    if (!changed) return false;
    TRY_OK(base::replace_file_at(dir.get(), name, found->text(), base::Durability::disk, 0600)
               .within("'" + file.string() + "'"));
    return true;
}

// What a helper keeps would win over what is written beside it, or be left behind by a logout.
Result<> check_plain(const AuthFile& auths, const fs::path& file, const std::string& registry) {
    TRY(const auto helper, auths.helper(registry));
    TRY(const std::string store, auths.store());
    if (!helper && store.empty()) return {};
    return make_error(
        ErrorCode::unsupported,
        "'" + file.string() + "' leaves '" + registry + "' to the credential helper '" + helper.value_or(store) + "'",
        "log in with the tool that wrote it, or name another file with --authfile");
}

}  // namespace

Result<std::string> parse_registry(std::string_view text) {
    std::string registry = normal_registry(text);
    if (oci::is_registry(registry)) return registry;
    return make_error(ErrorCode::invalid_request, "'" + std::string(text.substr(0, 300)) + "' is not a registry",
                      "write it as HOST or HOST:PORT, such as docker.io or registry.example:5000");
}

Result<> store_credentials(const fs::path& file, const std::string& registry, const Credentials& added) {
    const auto put = [&](AuthFile& auths) -> Result<bool> {
        TRY_OK(check_plain(auths, file, registry));
        TRY_OK(auths.put(registry, added));
        return true;
    };
    TRY_OK(change(file, put));
    return {};
}

Result<bool> remove_credentials(const fs::path& file, const std::string& registry) {
    if (!base::exists_at(AT_FDCWD, file.string())) return false;
    return change(file, [&](AuthFile& auths) { return auths.remove(registry); });
}

Result<bool> remove_all_credentials(const fs::path& file) {
    if (!base::exists_at(AT_FDCWD, file.string())) return false;
    return change(file, [](AuthFile& auths) { return auths.remove_all(); });
}

}  // namespace coracle::credentials

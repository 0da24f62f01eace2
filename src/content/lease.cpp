// Implements leases over flock(2).
#include "content/lease.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"

namespace coracle::content {

namespace {

Result<std::optional<base::UniqueFd>> open_manifest(const base::UniqueFd& store, const std::string& path) {
    auto file = base::open_regular_at(store.get(), path);
    if (file) return std::optional(std::move(file).value());
    if (file.error().os_errno == ENOENT) return std::optional<base::UniqueFd>();
    return std::move(file).error();
}

// A lock that was waited for may be on a blob that has been moved away meanwhile.
bool is_still_there(const base::UniqueFd& store, const std::string& path, const base::FileLock& lock) {
    struct stat held {};
    struct stat named {};
    return ::fstat(lock.file().get(), &held) == 0 &&
           ::fstatat(store.get(), path.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

}  // namespace

Result<std::shared_ptr<const Lease>> Lease::take(const base::UniqueFd& store, const oci::Digest& manifest) {
    const std::string path = paths::blob(manifest);
    TRY(auto file, open_manifest(store, path));
    if (!file) return std::shared_ptr<const Lease>();
    TRY(base::FileLock lock,
        base::FileLock::on(std::move(*file), base::LockKind::shared).within("lease '" + path + "'"));
    if (!is_still_there(store, path, lock)) return std::shared_ptr<const Lease>();
    (void)::futimens(lock.file().get(), nullptr);  // a store that is only read keeps the old time
    return std::shared_ptr<const Lease>(new Lease(std::move(lock)));
}

Result<std::optional<Lease>> Lease::take_alone(const base::UniqueFd& store, const oci::Digest& manifest) {
    const std::string path = paths::blob(manifest);
    TRY(auto file, open_manifest(store, path));
    if (!file) return std::optional<Lease>();
    TRY(auto lock, base::FileLock::try_on(std::move(*file), base::LockKind::exclusive));
    if (!lock || !is_still_there(store, path, *lock)) return std::optional<Lease>();
    return std::optional(Lease(std::move(*lock)));
}

}  // namespace coracle::content

// Implements locks by name.
#include "content/name_lock.hpp"

#include <unistd.h>

#include <utility>

#include "base/try.hpp"
#include "content/paths.hpp"

namespace coracle::content {

Result<NameLock> NameLock::acquire(const base::UniqueFd& store, const std::string& name) {
    // In tmp/, so that a sweep removes what a killed owner left.
    std::string path = paths::scratch_lock(name);
    TRY(base::FileLock lock, base::FileLock::acquire(store.get(), path));
    return NameLock(store.get(), std::move(path), std::move(lock));
}

NameLock::NameLock(NameLock&& other) noexcept
    : store_(std::exchange(other.store_, -1)), path_(std::move(other.path_)), lock_(std::move(other.lock_)) {}

NameLock::~NameLock() {
    // While it is held: whoever waits for it finds another file under the name and tries again.
    if (store_ >= 0) ::unlinkat(store_, path_.c_str(), 0);
}

}  // namespace coracle::content

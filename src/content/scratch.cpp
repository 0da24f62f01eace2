// Implements scratch folders: the lock beside a folder tells whether its owner lives.
#include "content/scratch.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"

namespace coracle::content {

namespace {

constexpr std::string_view lock_suffix = ".lock";

bool sweep_one(const base::UniqueFd& store, const std::string& name, Swept& swept) {
    auto lock = base::FileLock::try_acquire(store.get(), paths::scratch_lock(name));
    if (!lock || !lock.value()) return false;  // alive, or not ours to judge
    if (!base::remove_tree_at(store.get(), paths::scratch(name))) {
        ++swept.kept;
        return false;
    }
    ::unlinkat(store.get(), paths::scratch_lock(name).c_str(), 0);
    ++swept.removed;
    return true;
}

}  // namespace

Result<Scratch> Scratch::create(const base::UniqueFd& store) {
    std::string name = base::random_hex(8);
    // Whoever sweeps in the middle would take the lock file for a dead one's.
    TRY(const auto sweep, base::FileLock::acquire(store.get(), paths::sweep_lock));
    TRY(auto lock, base::FileLock::try_acquire(store.get(), paths::scratch_lock(name)));
    if (!lock) return make_error(ErrorCode::internal, "scratch folder " + name + ": its lock is taken");
    TRY_OK(base::make_dir_at(store.get(), paths::scratch(name), 0700));
    TRY(base::UniqueFd dir, base::open_dir_at(store.get(), paths::scratch(name)));
    return Scratch(store.get(), std::move(name), std::move(*lock), std::move(dir));
}

Scratch::Scratch(Scratch&& other) noexcept
    : store_(std::exchange(other.store_, -1)),
      name_(std::move(other.name_)),
      lock_(std::move(other.lock_)),
      dir_(std::move(other.dir_)) {}

Scratch::~Scratch() {
    if (store_ < 0) return;
    dir_.reset();
    // The lock file goes last: while it is there, a failed removal is finished by the next sweep.
    if (base::remove_tree_at(store_, paths::scratch(name_))) {
        ::unlinkat(store_, paths::scratch_lock(name_).c_str(), 0);
    }
}

Swept sweep_scratch(const base::UniqueFd& store) {
    Swept swept;
    auto sweep = base::FileLock::try_acquire(store.get(), paths::sweep_lock);
    if (!sweep || !sweep.value()) return swept;  // somebody else sweeps, or the store is read-only
    auto dir = base::open_dir_at(store.get(), paths::temporary);
    if (!dir) return swept;
    const auto names = base::list_dir(dir->get());
    if (!names) return swept;
    for (const std::string& name : names.value()) {
        if (name.ends_with(lock_suffix)) sweep_one(store, name.substr(0, name.size() - lock_suffix.size()), swept);
    }
    return swept;
}

}  // namespace coracle::content

// Holds a flock(2) on a file: held means that its owner is alive, however the owner died.
#pragma once

#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::base {

enum class LockKind { exclusive, shared };

class FileLock {
public:
    // Creates the file where it is missing. No value: somebody else holds it. The lock goes with the last copy of the
    // descriptor, so it must not be inherited (it is close-on-exec).
    static Result<std::optional<FileLock>> try_acquire(int dir_fd, const std::string& name,
                                                       LockKind kind = LockKind::exclusive);
    // Takes the lock before `name` shows: whoever finds the file finds it held, or its owner dead. Error: unavailable
    // where `name` is taken.
    static Result<FileLock> create_held(int dir_fd, const std::string& name);
    // Whether somebody holds it; a file that is not there is held by nobody.
    static bool is_held(int dir_fd, const std::string& name);
    // Waits.
    static Result<FileLock> acquire(int dir_fd, const std::string& name, LockKind kind = LockKind::exclusive);
    // On a file that is open for whatever. No value: somebody else holds it.
    static Result<std::optional<FileLock>> try_on(UniqueFd file, LockKind kind);
    static Result<FileLock> on(UniqueFd file, LockKind kind);

    const UniqueFd& file() const { return fd_; }

private:
    explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

}  // namespace coracle::base

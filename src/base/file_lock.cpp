// Implements the lock over flock(2).
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::base {

namespace {

Result<UniqueFd> open_lock(int dir_fd, const std::string& name) {
    return open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
}

int operation(LockKind kind) { return kind == LockKind::shared ? LOCK_SH : LOCK_EX; }

}  // namespace

Result<std::optional<FileLock>> FileLock::try_on(UniqueFd file, LockKind kind) {
    if (::flock(file.get(), operation(kind) | LOCK_NB) == 0) return std::optional<FileLock>(FileLock(std::move(file)));
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return os_error("lock", errno);
}

Result<FileLock> FileLock::on(UniqueFd file, LockKind kind) {
    while (::flock(file.get(), operation(kind)) != 0) {
        if (errno != EINTR) return os_error("lock", errno);
    }
    return FileLock(std::move(file));
}

Result<std::optional<FileLock>> FileLock::try_acquire(int dir_fd, const std::string& name, LockKind kind) {
    TRY(UniqueFd fd, open_lock(dir_fd, name));
    return try_on(std::move(fd), kind).within("'" + name + "'");
}

Result<FileLock> FileLock::acquire(int dir_fd, const std::string& name, LockKind kind) {
    TRY(UniqueFd fd, open_lock(dir_fd, name));
    return on(std::move(fd), kind).within("'" + name + "'");
}

}  // namespace coracle::base

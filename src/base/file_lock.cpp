// Implements the lock over flock(2).
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::base {

namespace {

// Its owner may have removed the file between our open and our lock: then nobody else would see the lock.
bool is_still_there(int dir_fd, const std::string& name, const UniqueFd& fd) {
    struct stat locked {};
    struct stat named {};
    return ::fstat(fd.get(), &locked) == 0 && ::fstatat(dir_fd, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

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
    for (;;) {
        TRY(UniqueFd fd, open_lock(dir_fd, name));
        TRY(auto lock, try_on(std::move(fd), kind).within("'" + name + "'"));
        if (!lock || is_still_there(dir_fd, name, lock->file())) return lock;
    }
}

Result<FileLock> FileLock::create_held(int dir_fd, const std::string& name) {
    const std::string temporary = name + ".new";
    TRY(UniqueFd fd, open_file_at(dir_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return os_error("lock '" + temporary + "'", errno);
    if (::renameat2(dir_fd, temporary.c_str(), dir_fd, name.c_str(), RENAME_NOREPLACE) != 0) {
        return os_error("create the lock '" + name + "'", errno);
    }
    return FileLock(std::move(fd));
}

bool FileLock::is_held(int dir_fd, const std::string& name) {
    // A shared lock for a moment: it fails where the owner lives, and does not look like an owner to others who ask.
    const auto fd = open_file_at(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return fd && ::flock(fd.value().get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<FileLock> FileLock::acquire(int dir_fd, const std::string& name, LockKind kind) {
    for (;;) {
        TRY(UniqueFd fd, open_lock(dir_fd, name));
        TRY(FileLock lock, on(std::move(fd), kind).within("'" + name + "'"));
        if (is_still_there(dir_fd, name, lock.file())) return lock;
    }
}

}  // namespace coracle::base

// Implements the lock over flock(2).
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::base {

Result<std::optional<FileLock>> FileLock::try_acquire(int dir_fd, const std::string& name) {
    TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional<FileLock>(FileLock(std::move(fd)));
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return os_error("lock '" + name + "'", errno);
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

Result<FileLock> FileLock::acquire(int dir_fd, const std::string& name) {
    TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    while (::flock(fd.get(), LOCK_EX) != 0) {
        if (errno != EINTR) return os_error("lock '" + name + "'", errno);
    }
    return FileLock(std::move(fd));
}

}  // namespace coracle::base

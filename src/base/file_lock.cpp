// Implements the lock over flock(2).
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::base {

Result<std::optional<FileLock>> FileLock::try_acquire(int dir_fd, const std::string& name) {
    TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional<FileLock>(FileLock(std::move(fd)));
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return os_error("lock '" + name + "'", errno);
}

Result<FileLock> FileLock::acquire(int dir_fd, const std::string& name) {
    TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    while (::flock(fd.get(), LOCK_EX) != 0) {
        if (errno != EINTR) return os_error("lock '" + name + "'", errno);
    }
    return FileLock(std::move(fd));
}

}  // namespace coracle::base

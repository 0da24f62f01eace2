// Implements the lock over flock(2).
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

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

}  // namespace

Result<std::optional<FileLock>> FileLock::try_acquire(int dir_fd, const std::string& name) {
    for (;;) {
        TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
        if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK) return std::optional<FileLock>();
            return os_error("lock '" + name + "'", errno);
        }
        if (is_still_there(dir_fd, name, fd)) return std::optional<FileLock>(FileLock(std::move(fd)));
    }
}

Result<FileLock> FileLock::acquire(int dir_fd, const std::string& name) {
    for (;;) {
        TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
        while (::flock(fd.get(), LOCK_EX) != 0) {
            if (errno != EINTR) return os_error("lock '" + name + "'", errno);
        }
        if (is_still_there(dir_fd, name, fd)) return FileLock(std::move(fd));
    }
}

}  // namespace coracle::base

// Implements the copying of files of unpacked trees.
#include "layer/copy_file.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"

namespace coracle::layer {

namespace {

Error failed(std::string_view act, const std::string& path) {
    return os_error(std::string(act) + " '" + printable(path) + "'", errno);
}

bool steers_overlayfs(std::string_view xattr) {
    return xattr.starts_with("trusted.overlay.") || xattr.starts_with("user.overlay.");
}

Result<> copy_xattrs(int from, int to, const std::string& path) {
    std::vector<char> names(std::size_t{1} << 16U);
    const ssize_t length = ::flistxattr(from, names.data(), names.size());
    if (length < 0) return errno == ENOTSUP ? Result<>() : failed("list the attributes of", path);
    std::vector<char> value(std::size_t{1} << 16U);  // XATTR_SIZE_MAX
    for (ssize_t at = 0; at < length;) {
        const std::string name = names.data() + at;
        at += static_cast<ssize_t>(name.size()) + 1;
        if (steers_overlayfs(name) || (name.starts_with("security.") && name != "security.capability")) continue;
        const ssize_t size = ::fgetxattr(from, name.c_str(), value.data(), value.size());
        if (size >= 0 && ::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(size), 0) == 0) continue;
        // tmpfs has user attributes since Linux 6.6 only.
        if (size < 0 || errno != ENOTSUP) return failed("copy " + printable(name) + " of", path);
    }
    return {};
}

ssize_t read_and_write(int from, int to, off_t offset, std::size_t size) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::pread(from, buffer.data(), std::min(size, buffer.size()), offset);
    return got <= 0 ? got : ::pwrite(to, buffer.data(), static_cast<std::size_t>(got), offset);
}

// How many bytes were copied, at most `size`; -1 with errno.
ssize_t copy_some(int from, int to, off_t offset, std::size_t size) {
    off_t in = offset;
    off_t out = offset;
    const ssize_t got = ::copy_file_range(from, &in, to, &out, size, 0);
    if (got >= 0) return got;
    // Between file systems of two kinds the kernel does not copy by itself (copy_file_range(2), EXDEV), on some not at
    // all.
    const bool by_hand = errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    return by_hand ? read_and_write(from, to, offset, size) : got;
}

// Both at `offset`; holes are left out.
Result<> copy_range(int from, int to, off_t offset, off_t end, const std::string& path) {
    while (offset < end) {
        const ssize_t got = copy_some(from, to, offset, static_cast<std::size_t>(end - offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("copy", path);
        if (got == 0) return make_error(ErrorCode::unavailable, "'" + printable(path) + "' shrank while it was copied");
        offset += got;
    }
    return {};
}

Result<> copy_content(int from, int to, off_t size, const std::string& path) {
    for (off_t at = 0; at < size;) {
        const off_t data = ::lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // a hole up to the end
        if (data < 0) return failed("read", path);
        const off_t hole = ::lseek(from, data, SEEK_HOLE);
        if (hole < 0) return failed("read", path);
        TRY_OK(copy_range(from, to, data, hole, path));
        at = hole;
    }
    if (::ftruncate(to, size) != 0) return failed("resize the copy of", path);
    return {};
}

}  // namespace

Result<> copy_attributes(int root_fd, const std::string& path, const struct stat& status, int to) {
    TRY(const base::UniqueFd from,
        base::open_file_at(root_fd, path.empty() ? "." : path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    // In this order: chown clears set-ID bits and capabilities (chown(2)), and an unprivileged owner may set user
    // attributes only while the mode lets him write (xattr(7)).
    if (::fchown(to, status.st_uid, status.st_gid) != 0) return failed("set the owner of the copy of", path);
    TRY_OK(copy_xattrs(from.get(), to, path));
    if (::fchmod(to, status.st_mode & 07777U) != 0) return failed("set the mode of the copy of", path);
    const std::array times{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, status.st_mtim};
    if (::futimens(to, times.data()) != 0) return failed("set the time of the copy of", path);
    return {};
}

Result<> copy_file(int root_fd, const std::string& path, const struct stat& status, int to) {
    TRY(const base::UniqueFd from, base::open_file_at(root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    TRY_OK(copy_content(from.get(), to, status.st_size, path));
    return copy_attributes(root_fd, path, status, to);
}

Result<> copy_special(int root_fd, const std::string& path, const struct stat& status, int parent_fd,
                      const std::string& name) {
    if (S_ISLNK(status.st_mode)) {
        std::array<char, 4097> target{};
        const ssize_t length = ::readlinkat(root_fd, path.c_str(), target.data(), target.size() - 1);
        if (length < 0) return failed("read link", path);
        if (::symlinkat(target.data(), parent_fd, name.c_str()) != 0) return failed("copy link", path);
    } else if (::mkfifoat(parent_fd, name.c_str(), status.st_mode & 07777U) != 0 ||
               ::fchmodat(parent_fd, name.c_str(), status.st_mode & 07777U, 0) != 0) {
        return failed("copy", path);
    }
    if (::fchownat(parent_fd, name.c_str(), status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed("set the owner of the copy of", path);
    }
    const std::array times{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, status.st_mtim};
    if (::utimensat(parent_fd, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
        return failed("set the time of the copy of", path);
    }
    return {};
}

}  // namespace coracle::layer

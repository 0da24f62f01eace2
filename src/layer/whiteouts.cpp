// Implements whiteouts.
#include "layer/whiteouts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"

namespace coracle::layer {

Result<> Whiteouts::hide(int parent_fd, const std::string& name) const {
    struct stat status {};
    if (::fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        // The layer has an entry of that name itself: a directory must not merge with the hidden one, anything else
        // covers it anyway.
        if (!S_ISDIR(status.st_mode)) return {};
        TRY(const base::UniqueFd dir, base::open_file_at(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        return hide_content(dir.get());
    }
    // Making the device 0/0 needs no privilege since Linux 5.8.
    if (::mknodat(parent_fd, name.c_str(), S_IFCHR, ::makedev(0, 0)) == 0) return {};
    // EPERM: overlayfs keeps whiteouts to itself (ovl_mknod() in fs/overlayfs/dir.c).
    return os_error("create the whiteout of '" + printable(name) + "'", errno)
        .with_hint(
            "put the store on a file system of its own (ext4, xfs, btrfs, tmpfs), in a container on a volume: "
            "overlayfs takes no whiteouts of others");
}

Result<> Whiteouts::hide_content(int dir_fd) const {
    if (::fsetxattr(dir_fd, xattr_name(mark_), "y", 1, 0) == 0) return {};
    return os_error(std::string("mark a directory opaque with ") + xattr_name(mark_), errno)
        .with_hint("put the store on a file system with extended attributes (ext4, xfs, btrfs, tmpfs since Linux 6.6)");
}

const char* xattr_name(OpaqueMark mark) {
    return mark == OpaqueMark::trusted ? "trusted.overlay.opaque" : "user.overlay.opaque";
}

bool is_whiteout_device(int parent_fd, const std::string& name) {
    struct stat status {};
    return ::fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == ::makedev(0, 0);
}

}  // namespace coracle::layer

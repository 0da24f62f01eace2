// Implements the giving of attributes.
#include "layer/attributes.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "layer/copy_file.hpp"
#include "layer/entry_path.hpp"

namespace coracle::layer {

namespace {

constexpr std::size_t most_warnings = 16;
constexpr std::string_view capability = "security.capability";
constexpr const char* owner_record = "user.coracle.owner";

// chown(2) reads -1 as "leave it".
bool is_id(std::int64_t id) { return id >= 0 && id < 0xffffffffLL; }

std::array<timespec, 2> times_of(const Entry& entry) {
    return {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, entry.mtime};
}

Error failed(std::string_view act, const Entry& entry) {
    return os_error(std::string(act) + " '" + printable(entry.path) + "'", errno);
}

}  // namespace

void Warnings::add(std::string text) {
    if (texts_.size() < most_warnings) texts_.push_back(std::move(text));
}

Result<> Attributes::own(int fd, const char* name, const Entry& entry) const {
    if (owners_ == Owners::caller) return {};
    if (!is_id(entry.uid) || !is_id(entry.gid)) {
        return make_error(ErrorCode::corrupt, "entry '" + printable(entry.path) + "': its owner is no user id");
    }
    const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if (::fchownat(fd, name, static_cast<uid_t>(entry.uid), static_cast<gid_t>(entry.gid), flags) == 0) return {};
    // EINVAL: no such id in this user namespace (chown(2)).
    if (owners_ != Owners::mapped || errno != EINVAL) return failed("set the owner of", entry);
    warnings_.add("'" + printable(entry.path) + "': owner " + std::to_string(entry.uid) + ":" +
                  std::to_string(entry.gid) + " is outside the id map");
    return {};
}

// Symlinks and FIFOs cannot carry user attributes (xattr(7)): theirs is not recorded.
Result<> Attributes::record_owner(int fd, const Entry& entry) const {
    const bool other = entry.uid != 0 || entry.gid != 0;
    if (owners_ != Owners::caller || !other) return {};
    const std::string owner = std::to_string(entry.uid) + ":" + std::to_string(entry.gid);
    if (::fsetxattr(fd, owner_record, owner.data(), owner.size(), 0) == 0 || errno == ENOTSUP) return {};
    return failed("record the owner of", entry);
}

bool Attributes::may_keep(const std::string& xattr) const {
    // Everything else is the host's own (trusted, other security, system) or steers overlayfs.
    if (xattr == capability) return owners_ != Owners::caller;
    return xattr.starts_with("user.") && !xattr.starts_with("user.overlay.") && xattr != owner_record;
}

Result<> Attributes::set_xattrs(int fd, const Entry& entry) const {
    for (const Xattr& xattr : entry.xattrs) {
        if (!may_keep(xattr.name)) continue;
        if (::fsetxattr(fd, xattr.name.c_str(), xattr.value.data(), xattr.value.size(), 0) == 0) continue;
        const bool tolerable = errno == ENOTSUP || (errno == EPERM && owners_ == Owners::mapped);
        if (!tolerable) return failed("set " + printable(xattr.name) + " of", entry);
        warnings_.add("'" + printable(entry.path) + "': " + printable(xattr.name) + " is not supported here");
    }
    return {};
}

Result<> Attributes::apply(int fd, const Entry& entry) const {
    // In this order: chown clears set-ID bits and capabilities (chown(2)), and an unprivileged owner may set user
    // attributes only while the mode lets him write (xattr(7)).
    TRY_OK(own(fd, "", entry));
    TRY_OK(set_xattrs(fd, entry));
    TRY_OK(record_owner(fd, entry));
    if (::fchmod(fd, entry.mode) != 0) return failed("set the mode of", entry);
    const auto times = times_of(entry);
    if (::futimens(fd, times.data()) != 0) return failed("set the time of", entry);
    return {};
}

Result<> Attributes::apply_to_name(int parent_fd, const std::string& name, const Entry& entry) const {
    TRY_OK(own(parent_fd, name.c_str(), entry));
    if (entry.kind != EntryKind::symlink && ::fchmodat(parent_fd, name.c_str(), entry.mode, 0) != 0) {
        return failed("set the mode of", entry);
    }
    const auto times = times_of(entry);
    if (::utimensat(parent_fd, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
        return failed("set the time of", entry);
    }
    return {};
}

void PendingDirectories::made(const std::string& path, ino_t inode) {
    Entry entry{.path = path, .kind = EntryKind::directory, .link = {}, .mode = 0755, .mtime = {}, .xattrs = {}};
    // No time of its own: the epoch, so that the same layer gives the same tree.
    put(path, Pending{std::move(entry), !path.empty(), inode});
}

void PendingDirectories::put(const std::string& path, Pending pending) {
    implied_ += pending.implied ? 1 : 0;
    const auto before = pending_.find(path);
    if (before != pending_.end() && before->second.implied) --implied_;
    pending_.insert_or_assign(path, std::move(pending));
}

Result<> PendingDirectories::described(const std::string& path, int fd, const Entry& entry) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return failed("stat", entry);
    put(path, Pending{entry, false, status.st_ino});
    return {};
}

Result<> PendingDirectories::apply(int root_fd, const Attributes& attributes, const LowerLayers* lower) && {
    // Backwards: a path comes before those below it, and a directory's mode may lock its children away.
    for (auto at = pending_.rbegin(); at != pending_.rend(); ++at) {
        const auto& [path, pending] = *at;
        const base::UniqueFd dir =
            base::open_resolved(root_fd, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                                RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        if (!dir) continue;  // removed or replaced since
        struct stat status {};
        if (::fstat(dir.get(), &status) != 0) return failed("stat", pending.entry);
        if (pending.inode != 0 && pending.inode != status.st_ino) continue;
        if (pending.implied && lower != nullptr) {
            TRY(const auto found, lower->find(path));
            if (found && S_ISDIR(found->status.st_mode)) {
                TRY_OK(copy_attributes(found->root_fd, found->path, found->status, dir.get()));
                continue;
            }
        }
        TRY_OK(attributes.apply(dir.get(), pending.entry));
    }
    pending_.clear();
    return {};
}

}  // namespace coracle::layer

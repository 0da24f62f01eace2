// Implements the packing of a directory.
#include "importer/pack.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"

namespace coracle::importer {

namespace {

using layer::Entry;
using layer::EntryKind;

constexpr std::size_t deepest = 256;

Error failed(std::string_view act, const std::string& path) {
    return os_error(std::string(act) + " '" + layer::printable(path) + "'", errno);
}

std::optional<EntryKind> kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG: return EntryKind::file;
        case S_IFDIR: return EntryKind::directory;
        case S_IFLNK: return EntryKind::symlink;
        case S_IFIFO: return EntryKind::fifo;
        default: return std::nullopt;
    }
}

bool is_kept(std::string_view xattr) {
    return xattr == "security.capability" || (xattr.starts_with("user.") && !xattr.starts_with("user.overlay."));
}

std::vector<layer::Xattr> xattrs_of(int fd) {
    std::array<char, 65536> names{};
    const ssize_t length = ::flistxattr(fd, names.data(), names.size());
    std::vector<layer::Xattr> xattrs;
    for (ssize_t at = 0; at < length;) {
        const std::string name = names.data() + at;
        at += static_cast<ssize_t>(name.size()) + 1;
        if (!is_kept(name)) continue;
        std::string value(65536, '\0');
        const ssize_t size = ::fgetxattr(fd, name.c_str(), value.data(), value.size());
        if (size < 0) continue;
        value.resize(static_cast<std::size_t>(size));
        xattrs.push_back({name, std::move(value)});
    }
    std::sort(xattrs.begin(), xattrs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return xattrs;
}

Result<std::string> link_target(int dir_fd, const std::string& name, const std::string& path) {
    std::array<char, 4097> target{};
    const ssize_t length = ::readlinkat(dir_fd, name.c_str(), target.data(), target.size() - 1);
    if (length < 0) return failed("read link", path);
    return std::string(target.data(), static_cast<std::size_t>(length));
}

class Packer {
public:
    Packer(layer::TarWriter& tar, dev_t device) : tar_(tar), device_(device) {}

    Result<> pack_content(int dir_fd, const std::string& path, std::size_t depth) {
        if (depth > deepest) return make_error(ErrorCode::invalid_request, "the tree is deeper than 256 directories");
        TRY(auto names, base::list_dir(dir_fd));
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            TRY_OK(pack(dir_fd, name, path.empty() ? name : path + "/" + name, depth));
        }
        return {};
    }

private:
    Result<> pack(int dir_fd, const std::string& name, const std::string& path, std::size_t depth) {
        struct stat status {};
        if (::fstatat(dir_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return failed("stat", path);
        const auto kind = kind_of(status.st_mode);
        if (!kind || status.st_dev != device_) return {};
        Entry entry = describe(path, *kind, status);
        if (*kind == EntryKind::directory) return pack_directory(dir_fd, name, std::move(entry), depth);
        if (status.st_nlink > 1) {
            const auto [first, is_first] = first_names_.emplace(status.st_ino, path);
            if (!is_first) return pack_hardlink(std::move(entry), first->second);
        }
        if (*kind == EntryKind::file) return pack_file(dir_fd, name, std::move(entry));
        if (*kind == EntryKind::symlink) {
            TRY(entry.link, link_target(dir_fd, name, path));
        }
        return pack_plain(entry);
    }

    static Entry describe(const std::string& path, EntryKind kind, const struct stat& status) {
        const uid_t self = ::geteuid();
        const bool own = self != 0 && status.st_uid == self;
        return Entry{.path = path,
                     .kind = kind,
                     .link = {},
                     .mode = status.st_mode & 07777U,
                     .uid = own ? 0 : status.st_uid,
                     .gid = own ? 0 : status.st_gid,
                     .mtime = {.tv_sec = status.st_mtim.tv_sec, .tv_nsec = 0},
                     .size = kind == EntryKind::file ? static_cast<std::uint64_t>(status.st_size) : 0,
                     .xattrs = {}};
    }

    Result<> pack_plain(const Entry& entry) {
        TRY_OK(tar_.begin(entry));
        return tar_.end_entry();
    }

    Result<> pack_hardlink(Entry entry, const std::string& target) {
        entry.kind = EntryKind::hardlink;
        entry.link = target;
        return pack_plain(entry);
    }

    Result<> pack_directory(int dir_fd, const std::string& name, Entry entry, std::size_t depth) {
        TRY(const base::UniqueFd dir, base::open_file_at(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        entry.xattrs = xattrs_of(dir.get());
        TRY_OK(pack_plain(entry));
        return pack_content(dir.get(), entry.path, depth + 1);
    }

    Result<> pack_file(int dir_fd, const std::string& name, Entry entry) {
        TRY(const base::UniqueFd file, base::open_file_at(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        entry.xattrs = xattrs_of(file.get());
        TRY_OK(tar_.begin(entry));
        std::vector<char> buffer(std::size_t{1} << 17U);
        for (std::uint64_t missing = entry.size; missing > 0;) {
            const ssize_t got = ::read(file.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), missing));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failed("read", entry.path);
            if (got == 0)
                return make_error(ErrorCode::unavailable,
                                  "'" + layer::printable(entry.path) + "' shrank while it was read");
            TRY_OK(tar_.write({buffer.data(), static_cast<std::size_t>(got)}));
            missing -= static_cast<std::uint64_t>(got);
        }
        return tar_.end_entry();
    }

    layer::TarWriter& tar_;
    dev_t device_;
    std::map<ino_t, std::string> first_names_;  // of files with several names
};

}  // namespace

Result<> pack_directory(const base::UniqueFd& dir, layer::TarWriter::Sink sink) {
    struct stat status {};
    if (::fstat(dir.get(), &status) != 0) return os_error("stat the directory", errno);
    layer::TarWriter tar(std::move(sink));
    Packer packer(tar, status.st_dev);
    TRY_OK(packer.pack_content(dir.get(), "", 0));
    return tar.finish();
}

}  // namespace coracle::importer

// Implements the writing of entries.
#include "layer/tree_writer.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"

namespace coracle::layer {

namespace {

Error failed(std::string_view act, const EntryPath& path) {
    return os_error(std::string(act) + " '" + printable(path.joined()) + "'", errno);
}

Result<> write_at(int fd, std::span<const char> bytes, std::uint64_t offset, const EntryPath& path) {
    while (!bytes.empty()) {
        const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return failed("write", path);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
        offset += static_cast<std::uint64_t>(put);
    }
    return {};
}

// Holes stay holes: only what the archive holds is written, the size is set at the end.
Result<> write_content(int fd, const EntryPath& path, const Entry& entry, TarReader& reader) {
    std::uint64_t end = 0;
    for (;;) {
        TRY(const auto chunk, reader.next_chunk());
        if (!chunk) break;
        if (chunk->offset > entry.size || chunk->bytes.size() > entry.size - chunk->offset) {
            return make_error(ErrorCode::corrupt,
                              "entry '" + printable(path.joined()) + "': more content than its size");
        }
        TRY_OK(write_at(fd, chunk->bytes, chunk->offset, path));
        end = chunk->offset + chunk->bytes.size();
    }
    if (end < entry.size && ::ftruncate(fd, static_cast<off_t>(entry.size)) != 0) return failed("resize", path);
    return {};
}

bool same_file(int one_fd, const std::string& one, int other_fd, const std::string& other) {
    struct stat first {};
    struct stat second {};
    return ::fstatat(one_fd, one.c_str(), &first, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstatat(other_fd, other.c_str(), &second, AT_SYMLINK_NOFOLLOW) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

}  // namespace

TreeWriter::TreeWriter(int root_fd, Owners owners, OpaqueMark mark, const Limits& limits)
    : root_(root_fd),
      limits_(limits),
      attributes_(owners, warnings_),
      whiteouts_(mark),
      parents_(root_fd, whiteouts_, [this](const std::string& path, ino_t inode) { directories_.made(path, inode); }) {
    directories_.made("", 0);
}

Result<> TreeWriter::write(const EntryPath& path, const Entry& entry, TarReader& reader) {
    if (path.role == Role::ignored) return {};
    if (path.role == Role::root) {
        return entry.kind == EntryKind::directory ? directories_.described("", root_, entry) : Result<>();
    }
    TRY(const int parent_fd, parents_.open(path.parent));
    switch (path.role) {
        case Role::opaque: return whiteouts_.hide_content(parent_fd);
        case Role::whiteout: return whiteouts_.hide(parent_fd, path.name);
        default: return write_entry(parent_fd, path, entry, reader);
    }
}

Result<> TreeWriter::write_entry(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader) {
    switch (entry.kind) {
        case EntryKind::directory: return write_directory(parent_fd, path, entry);
        case EntryKind::file: return write_file(parent_fd, path, entry, reader);
        case EntryKind::symlink: return write_symlink(parent_fd, path, entry);
        case EntryKind::hardlink: return write_hardlink(parent_fd, path, entry);
        case EntryKind::fifo: return write_fifo(parent_fd, path, entry);
        case EntryKind::device:
            warnings_.add("'" + printable(path.joined()) + "': devices are not unpacked");
            return {};
    }
    return {};
}

// Tries `make` (0 or -1 with errno); what is in the way is removed once.
template <class Create>
Result<> TreeWriter::create(int parent_fd, const EntryPath& path, std::string_view act, Create make) {
    if (make() != 0) {
        if (errno != EEXIST) return failed(act, path);
        TRY_OK(base::remove_tree_at(parent_fd, path.name).within("replace"));
        if (make() != 0) return failed(act, path);
    }
    return {};
}

Result<> TreeWriter::write_directory(int parent_fd, const EntryPath& path, const Entry& entry) {
    TRY_OK(parents_.place_directory(parent_fd, path.parent, path.name, true));
    TRY(const base::UniqueFd dir,
        base::open_file_at(parent_fd, path.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).within(printable(path.parent)));
    return directories_.described(path.joined(), dir.get(), entry);
}

Result<> TreeWriter::write_file(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader) {
    base::UniqueFd file;
    TRY_OK(create(parent_fd, path, "create", [&] {
        constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        file.reset(::openat(parent_fd, path.name.c_str(), flags, 0600));
        return file ? 0 : -1;
    }));
    TRY_OK(write_content(file.get(), path, entry, reader));
    return attributes_.apply(file.get(), entry);
}

Result<> TreeWriter::write_symlink(int parent_fd, const EntryPath& path, const Entry& entry) {
    if (entry.link.empty()) {
        return make_error(ErrorCode::corrupt, "entry '" + printable(path.joined()) + "': a link without a target");
    }
    TRY_OK(create(parent_fd, path, "create link",
                  [&] { return ::symlinkat(entry.link.c_str(), parent_fd, path.name.c_str()); }));
    return attributes_.apply_to_name(parent_fd, path.name, entry);
}

Result<> TreeWriter::write_hardlink(int parent_fd, const EntryPath& path, const Entry& entry) {
    TRY(const EntryPath target,
        parse_entry_path(entry.link, limits_).within("hard link '" + printable(path.joined()) + "'"));
    const auto refused = [&](std::string_view why) {
        return make_error(ErrorCode::corrupt, "hard link '" + printable(path.joined()) + "' to '" +
                                                  printable(entry.link) + "': " + std::string(why));
    };
    if (target.role != Role::entry) return refused("not a file");
    if (target.joined().starts_with(path.joined() + "/")) return refused("it would take the place of what it names");
    const base::UniqueFd target_dir =
        base::open_resolved(root_, target.parent.empty() ? "." : target.parent.c_str(), O_PATH | O_DIRECTORY,
                            RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    struct stat status {};
    if (!target_dir || ::fstatat(target_dir.get(), target.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return link_to_lower(parent_fd, path, target.joined());
    }
    if (S_ISDIR(status.st_mode)) return refused("a directory");
    if (is_whiteout_device(target_dir.get(), target.name)) return refused("the layer removed it");
    if (same_file(parent_fd, path.name, target_dir.get(), target.name)) return {};
    // Without AT_SYMLINK_FOLLOW the link itself is linked, not what it points at.
    TRY_OK(create(parent_fd, path, "create hard link",
                  [&] { return ::linkat(target_dir.get(), target.name.c_str(), parent_fd, path.name.c_str(), 0); }));
    // The first name may be replaced later: this one shall be filled then.
    const std::string* const lower = links_.target_of(status);
    return lower == nullptr ? Result<>() : links_.add(path.parent, path.name, std::string(*lower), status.st_ino);
}

Result<> TreeWriter::write_fifo(int parent_fd, const EntryPath& path, const Entry& entry) {
    TRY_OK(create(parent_fd, path, "create FIFO", [&] { return ::mkfifoat(parent_fd, path.name.c_str(), 0600); }));
    return attributes_.apply_to_name(parent_fd, path.name, entry);
}

Result<> TreeWriter::link_to_lower(int parent_fd, const EntryPath& path, const std::string& target) {
    struct stat status {};
    if (const LowerLinks::Link* const same = links_.to(target)) {
        const base::UniqueFd dir = base::open_resolved(root_, same->parent.empty() ? "." : same->parent.c_str(),
                                                       O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        const bool there = dir && ::fstatat(dir.get(), same->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                           status.st_ino == same->inode && links_.target_of(status) != nullptr;
        if (there && same_file(dir.get(), same->name, parent_fd, path.name)) return {};
        if (there) {
            TRY_OK(create(parent_fd, path, "create hard link",
                          [&] { return ::linkat(dir.get(), same->name.c_str(), parent_fd, path.name.c_str(), 0); }));
            return links_.add(path.parent, path.name, target, status.st_ino);
        }
    }
    base::UniqueFd file;
    TRY_OK(create(parent_fd, path, "create", [&] {
        file.reset(::openat(parent_fd, path.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        return file ? 0 : -1;
    }));
    TRY_OK(links_.mark(file.get()));
    if (::fstat(file.get(), &status) != 0) return failed("stat", path);
    return links_.add(path.parent, path.name, target, status.st_ino);
}

Result<> TreeWriter::finish(const LowerLayers* lower) && {
    TRY_OK(links_.fill(root_, lower, limits_.unpacked));
    return std::move(directories_).apply(root_, attributes_, lower);
}

}  // namespace coracle::layer

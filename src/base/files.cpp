// Implements files below a directory descriptor.
#include "base/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/syscalls.hpp"
#include "base/try.hpp"

namespace coracle::base {

namespace {

std::string quoted(std::string_view act, std::string_view name) {
    return std::string(act) + " '" + std::string(name) + "'";
}

struct DirCloser {
    void operator()(DIR* dir) const { ::closedir(dir); }
};
using UniqueDir = std::unique_ptr<DIR, DirCloser>;

// A stream of its own over the directory: the caller's descriptor keeps its offset.
UniqueDir open_stream(int dir_fd) {
    UniqueFd copy(::openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy) return nullptr;
    UniqueDir stream(::fdopendir(copy.get()));
    if (stream) (void)copy.release();
    return stream;
}

// Opens a subdirectory to empty it. A directory without r-x bits is given them first: it is about to go anyway.
UniqueFd open_doomed(int dir_fd, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd fd(::openat(dir_fd, name, flags));
    if (!fd && errno == EACCES && ::fchmodat(dir_fd, name, 0700, 0) == 0) fd.reset(::openat(dir_fd, name, flags));
    return fd;
}

// Removes an entry that is a file, a link or an empty directory. False: it is a directory with something in it.
bool remove_simple(int dir_fd, const char* name) {
    if (::unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT) return true;
    return ::unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

// Empties one directory without recursion and without a descriptor per level: what lies in a subdirectory is moved up
// beside it, so that the tree gets flatter with every pass and 3,000 levels cost no more than 3,000 directories.
class Remover {
public:
    explicit Remover(int top) : top_(top) {}

    Result<> empty() {
        struct stat status {};
        if (::fstat(top_, &status) != 0) return os_error("stat", errno);
        device_ = status.st_dev;
        ::fchmod(top_, 0700);
        for (;;) {
            TRY(const std::vector<std::string> names, list_dir(top_));
            bool emptied = true;
            for (const std::string& name : names) {
                if (remove_simple(top_, name.c_str())) continue;
                if (errno != ENOTEMPTY && errno != EEXIST) return os_error(quoted("remove", name), errno);
                emptied = false;
                TRY_OK(hoist_children(name));
            }
            if (emptied) return {};
        }
    }

private:
    Result<> hoist_children(const std::string& name) {
        const UniqueFd inner = open_doomed(top_, name.c_str());
        struct stat status {};
        if (!inner || ::fstat(inner.get(), &status) != 0) return os_error(quoted("open", name), errno);
        if (status.st_dev != device_) return make_error(ErrorCode::denied, quoted("remove", name) + ": a mount point");
        ::fchmod(inner.get(), 0700);
        TRY(const std::vector<std::string> children, list_dir(inner.get()));
        for (const std::string& child : children) {
            if (remove_simple(inner.get(), child.c_str())) continue;
            // EBUSY: a mount point, whose root must not even get another mode.
            if (errno != ENOTEMPTY && errno != EEXIST) return os_error(quoted("remove", name + "/" + child), errno);
            // Renaming a directory rewrites its "..", which needs write permission on it.
            ::fchmodat(inner.get(), child.c_str(), 0700, 0);
            std::string moved;
            do {
                moved = ".doomed." + std::to_string(serial_++);
            } while (exists_at(top_, moved));
            if (::renameat(inner.get(), child.c_str(), top_, moved.c_str()) != 0) {
                return os_error(quoted("remove", name + "/" + child), errno);
            }
        }
        (void)remove_simple(top_, name.c_str());
        return {};
    }

    int top_;
    dev_t device_ = 0;
    std::uint64_t serial_ = 0;
};

}  // namespace

Result<UniqueFd> open_dir(const std::filesystem::path& path) { return open_dir_at(AT_FDCWD, path.string()); }

Result<UniqueFd> open_dir_at(int dir_fd, const std::string& name) {
    return open_file_at(dir_fd, name, O_RDONLY | O_DIRECTORY);
}

Result<UniqueFd> open_file_at(int dir_fd, const std::string& name, int flags, mode_t mode) {
    UniqueFd fd(::openat(dir_fd, name.c_str(), flags | O_CLOEXEC, mode));
    if (!fd) return os_error(quoted((flags & O_CREAT) != 0 ? "create" : "open", name), errno);
    return fd;
}

Result<UniqueFd> open_in_root(int root_fd, const std::string& path, int flags, mode_t mode) {
    UniqueFd fd = open_resolved(root_fd, path.c_str(), flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, mode);
    if (!fd) return os_error(quoted("open", path), errno);
    return fd;
}

Result<UniqueFd> open_regular_at(int dir_fd, const std::string& name) {
    TRY(UniqueFd fd, open_file_at(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return os_error(quoted("stat", name), errno);
    if (!S_ISREG(status.st_mode)) return make_error(ErrorCode::corrupt, quoted("open", name) + ": not a regular file");
    return fd;
}

Result<std::string> read_all(int fd, Bytes bound, std::string_view what) {
    std::string text;
    std::array<char, 16384> buffer;
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return os_error(quoted("read", what), errno);
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > bound.count) {
            return make_error(ErrorCode::corrupt, quoted("read", what) + ": larger than " + coracle::to_string(bound));
        }
    }
}

Result<std::string> read_file_at(int dir_fd, const std::string& name, Bytes bound) {
    TRY(const UniqueFd fd, open_regular_at(dir_fd, name));
    return read_all(fd.get(), bound, name);
}

Result<std::string> read_file(const std::filesystem::path& path, Bytes bound) {
    return read_file_at(AT_FDCWD, path.string(), bound);
}

Result<> write_all(int fd, std::string_view data, std::string_view what) {
    while (!data.empty()) {
        const ssize_t put = ::write(fd, data.data(), data.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return os_error(quoted("write", what), errno);
        data.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

Result<> write_new_file_at(int dir_fd, const std::string& name, std::string_view data, mode_t mode) {
    TRY(const UniqueFd fd, open_file_at(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    return write_all(fd.get(), data, name);
}

Result<> write_value_at(int dir_fd, const std::string& name, std::string_view value) {
    TRY(const UniqueFd fd, open_file_at(dir_fd, name, O_WRONLY));
    const ssize_t put = ::write(fd.get(), value.data(), value.size());
    if (put == static_cast<ssize_t>(value.size())) return {};
    return os_error("write '" + std::string(value) + "' to '" + name + "'", put < 0 ? errno : EIO);
}

Result<> replace_file_at(int dir_fd, const std::string& name, std::string_view data, Durability durability,
                         mode_t mode) {
    const std::string temporary = name + "." + random_hex(6) + ".tmp";
    const auto undo = [&](Error error) {
        ::unlinkat(dir_fd, temporary.c_str(), 0);
        return error;
    };
    {
        TRY(const UniqueFd fd, open_file_at(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
        if (auto written = write_all(fd.get(), data, name); !written) return undo(std::move(written).error());
        if (durability == Durability::disk && ::fsync(fd.get()) != 0) {
            return undo(os_error(quoted("fsync", name), errno));
        }
    }
    if (::renameat(dir_fd, temporary.c_str(), dir_fd, name.c_str()) != 0) {
        return undo(os_error(quoted("rename to", name), errno));
    }
    if (durability == Durability::disk && ::fsync(dir_fd) != 0) return os_error(quoted("fsync folder of", name), errno);
    return {};
}

Result<> make_dirs(const std::filesystem::path& path, mode_t mode) {
    if (::mkdir(path.c_str(), mode) == 0) return {};
    if (errno == ENOENT && path.has_relative_path()) {
        TRY_OK(make_dirs(path.parent_path(), mode));
        if (::mkdir(path.c_str(), mode) == 0) return {};
    }
    const int cause = errno;
    // EEXIST may be a file; on a read-only file system mkdir says EROFS even for a directory that is there.
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
    return os_error(quoted("create directory", path.string()), cause);
}

Result<> make_dir_at(int dir_fd, const std::string& name, mode_t mode) {
    if (::mkdirat(dir_fd, name.c_str(), mode) == 0 || errno == EEXIST) return {};
    return os_error(quoted("create directory", name), errno);
}

Result<> remove_tree_at(int dir_fd, const std::string& name) {
    if (::unlinkat(dir_fd, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR) return os_error(quoted("remove", name), errno);
    if (::unlinkat(dir_fd, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    // EBUSY: something is mounted there, and what it holds is not ours.
    if (errno != ENOTEMPTY && errno != EEXIST) return os_error(quoted("remove", name), errno);
    const UniqueFd top = open_doomed(dir_fd, name.c_str());
    if (!top) return os_error(quoted("open", name), errno);
    TRY_OK(Remover(top.get()).empty().within(quoted("remove", name)));
    if (::unlinkat(dir_fd, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
        return os_error(quoted("remove", name), errno);
    }
    return {};
}

Result<std::vector<std::string>> list_dir(int dir_fd) {
    const UniqueDir stream = open_stream(dir_fd);
    if (!stream) return os_error("list directory", errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
}

bool exists_at(int dir_fd, const std::string& name) {
    struct stat status {};
    return ::fstatat(dir_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string random_hex(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t done = 0; done < count;) {
        const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        hex += digits[value >> 4U];
        hex += digits[value & 15U];
    }
    return hex;
}

}  // namespace coracle::base

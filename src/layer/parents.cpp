// Implements the opening and making of parent directories.
#include "layer/parents.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"

namespace coracle::layer {

namespace {

std::string joined(const std::string& parent, const std::string& name) {
    return parent.empty() ? name : parent + "/" + name;
}

bool is_directory(int parent_fd, const std::string& name) {
    struct stat status {};
    return ::fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

constexpr int most_links = 8;

std::optional<std::string> link_target(int parent_fd, const std::string& name) {
    std::array<char, 4097> target{};
    const ssize_t length = ::readlinkat(parent_fd, name.c_str(), target.data(), target.size() - 1);
    if (length <= 0) return std::nullopt;
    return std::string(target.data(), static_cast<std::size_t>(length));
}

// The path of what a link in `parent` says; ".." ends at the root.
std::string led_to(const std::string& parent, const std::string& target) {
    const std::string whole = target.starts_with('/') ? target : joined(parent, target);
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < whole.size();) {
        const std::size_t slash = std::min(whole.find('/', at), whole.size());
        std::string part = whole.substr(at, slash - at);
        at = slash + 1;
        if (part == ".." && !parts.empty()) parts.pop_back();
        if (!part.empty() && part != "." && part != "..") parts.push_back(std::move(part));
    }
    std::string path;
    for (const std::string& part : parts) path = joined(path, part);
    return path;
}

Error no_directory(const std::string& path) {
    return make_error(ErrorCode::corrupt, "'" + printable(path) + "' is used as a directory and is none");
}

}  // namespace

Result<int> Parents::open(const std::string& path) {
    if (open_ && path == open_path_) return open_.get();
    TRY(base::UniqueFd dir, open_or_make(path));
    open_ = std::move(dir);
    open_path_ = path;
    return open_.get();
}

Result<base::UniqueFd> Parents::open_or_make(const std::string& path, int links) {
    const auto try_open = [&] {
        return base::open_resolved(root_, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY,
                                   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    };
    if (base::UniqueFd dir = try_open(); dir) return dir;
    if (errno == ELOOP) return make_error(ErrorCode::corrupt, "'" + printable(path) + "' is a loop of symbolic links");
    if ((errno != ENOENT && errno != ENOTDIR) || path.empty()) return os_error("open '" + printable(path) + "'", errno);

    TRY_OK(make(path, links));
    base::UniqueFd dir = try_open();
    if (!dir) return no_directory(path);
    return dir;
}

Result<> Parents::make(const std::string& path, int links) {
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    TRY(const base::UniqueFd above, open_or_make(parent, links));
    const auto target = link_target(above.get(), name);
    if (!target) return place_directory(above.get(), parent, name, false);
    // A link of this layer to a directory that only the layers below have: made here, it merges with theirs.
    if (links == most_links)
        return make_error(ErrorCode::corrupt, "'" + printable(path) + "' is behind too many links");
    TRY(const base::UniqueFd made, open_or_make(led_to(parent, *target), links + 1));
    return {};
}

Result<> Parents::place_directory(int parent_fd, const std::string& parent, const std::string& name, bool replace) {
    const std::string path = joined(parent, name);
    if (::mkdirat(parent_fd, name.c_str(), 0700) != 0) {
        if (errno != EEXIST) return os_error("create directory '" + printable(path) + "'", errno);
        if (is_directory(parent_fd, name)) return {};
        return give_way(parent_fd, parent, name, replace);
    }
    struct stat status {};
    if (::fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return os_error("stat '" + printable(path) + "'", errno);
    }
    made_(path, status.st_ino);
    return {};
}

Result<> Parents::give_way(int parent_fd, const std::string& parent, const std::string& name, bool replace) {
    // The layer hid the lower directory before it brought its own: they must not merge.
    const bool hidden = is_whiteout_device(parent_fd, name);
    if (!hidden && !replace) return no_directory(joined(parent, name));
    TRY_OK(base::remove_tree_at(parent_fd, name).within("replace '" + printable(name) + "'"));
    TRY_OK(place_directory(parent_fd, parent, name, false));
    if (!hidden) return {};
    TRY(const base::UniqueFd dir, base::open_file_at(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return whiteouts_.hide_content(dir.get());
}

}  // namespace coracle::layer

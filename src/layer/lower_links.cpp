// Implements the copies of files of lower layers.
#include "layer/lower_links.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "layer/copy_file.hpp"
#include "layer/entry_path.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

namespace {

Error refused(const LowerLinks::Link& link, std::string_view why) {
    const std::string name = link.parent.empty() ? link.name : link.parent + "/" + link.name;
    return make_error(ErrorCode::corrupt,
                      "hard link '" + printable(name) + "' to '" + printable(link.target) + "': " + std::string(why));
}

Result<LowerLayers::Found> find_target(const LowerLinks::Link& link, const LowerLayers* lower) {
    if (lower == nullptr) return refused(link, "no such file in this layer, and it is the lowest");
    TRY(auto found, lower->find(link.target));
    if (!found) return refused(link, "no such file in this layer or those below it");
    if (S_ISDIR(found->status.st_mode)) return refused(link, "a directory");
    return std::move(*found);
}

// The placeholder becomes what is no regular file; its folder keeps its time until directories get theirs.
Result<> replace(int parent_fd, const LowerLinks::Link& link, const LowerLayers::Found& found) {
    if (::unlinkat(parent_fd, link.name.c_str(), 0) != 0)
        return os_error("replace '" + printable(link.name) + "'", errno);
    return copy_special(found.root_fd, found.path, found.status, parent_fd, link.name);
}

}  // namespace

LowerLinks::LowerLinks() : mark_(static_cast<time_t>(std::strtoul(base::random_hex(4).c_str(), nullptr, 16) >> 1U)) {}

Result<> LowerLinks::mark(int fd) const {
    const std::array times{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, timespec{.tv_sec = mark_, .tv_nsec = 0}};
    return ::futimens(fd, times.data()) == 0 ? Result<>() : os_error("set the time of an empty file", errno);
}

const std::string* LowerLinks::target_of(const struct stat& status) const {
    const auto found = targets_.find(status.st_ino);
    const bool marked = S_ISREG(status.st_mode) && status.st_size == 0 && status.st_mtim.tv_sec == mark_;
    return marked && found != targets_.end() ? &found->second : nullptr;
}

Result<> LowerLinks::add(const std::string& parent, const std::string& name, const std::string& target, ino_t inode) {
    first_.insert_or_assign(target, links_.size());
    targets_.insert_or_assign(inode, target);
    links_.push_back({parent, name, target, inode});
    return {};
}

const LowerLinks::Link* LowerLinks::to(const std::string& target) const {
    const auto found = first_.find(target);
    return found == first_.end() ? nullptr : &links_[found->second];
}

Result<> LowerLinks::fill(int root_fd, const LowerLayers* lower, Bytes bound) const {
    std::set<ino_t> filled;
    std::uint64_t copied = 0;
    for (const Link& link : links_) {
        const base::UniqueFd dir = base::open_resolved(root_fd, link.parent.empty() ? "." : link.parent.c_str(),
                                                       O_RDONLY | O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        struct stat status {};
        const bool there = dir && ::fstatat(dir.get(), link.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there || status.st_ino != link.inode) continue;              // replaced since
        if (filled.contains(link.inode) || !target_of(status)) continue;  // done already, or replaced
        TRY(const LowerLayers::Found found, find_target(link, lower));
        if (!S_ISREG(found.status.st_mode)) {
            TRY_OK(replace(dir.get(), link, found));
            continue;
        }
        filled.insert(link.inode);
        const auto size = static_cast<std::uint64_t>(found.status.st_size);
        if (size > bound.count - copied) return limit_exceeded("what hard links copy", bound, "max_unpacked");
        copied += size;
        TRY(const base::UniqueFd file, base::open_file_at(dir.get(), link.name, O_WRONLY | O_NOFOLLOW));
        TRY_OK(copy_file(found.root_fd, found.path, found.status, file.get()));
    }
    return {};
}

}  // namespace coracle::layer

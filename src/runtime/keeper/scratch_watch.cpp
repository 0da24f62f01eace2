// Implements the measurement, over the tree and over the descriptors of this pid namespace.
#include "runtime/keeper/scratch_watch.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/tree_size.hpp"

namespace coracle::runtime::keeper {

namespace {

bool in_memory(const char* path) {
    struct statfs system {};
    return ::statfs(path, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

// Files that have no name and are open somewhere in this pid namespace, each once. Those in memory (tmpfs,
// memfd_create(2)) are the memory limit's, unless the scratch itself lies there.
base::TreeUse deleted_but_open(bool memory_too) {
    base::TreeUse use;
    std::set<std::pair<dev_t, ino_t>> seen;
    std::error_code gone;  // processes and descriptors may go at any moment
    for (std::filesystem::directory_iterator process("/proc", gone), end; !gone && process != end;
         process.increment(gone)) {
        std::error_code none;
        for (std::filesystem::directory_iterator file(process->path() / "fd", none); !none && file != end;
             file.increment(none)) {
            struct stat status {};
            const char* const path = file->path().c_str();
            if (::stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0) continue;
            if (!memory_too && in_memory(path)) continue;
            if (!seen.emplace(status.st_dev, status.st_ino).second) continue;
            use.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512U;
            ++use.entries;
        }
    }
    return use;
}

}  // namespace

std::optional<KeeperOverflow> ScratchWatch::look() {
    base::TreeUse use = base::tree_use_at(AT_FDCWD, path_);
    const base::TreeUse nameless = deleted_but_open(in_memory(path_.c_str()));
    use.bytes += nameless.bytes;
    use.entries += nameless.entries;
    // One for each 4 KiB, as a tmpfs of ours has inodes.
    if (use.bytes <= most_ && use.entries <= std::max<std::uint64_t>(1024, most_ / 4096)) return std::nullopt;
    said_ = true;
    return KeeperOverflow{.bytes = use.bytes, .entries = use.entries};
}

}  // namespace coracle::runtime::keeper

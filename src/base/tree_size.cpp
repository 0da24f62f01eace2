// Implements the measurement: one descriptor at a time, the way back by "..", so that no depth exhausts them.
#include "base/tree_size.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <set>
#include <utility>
#include <vector>

#include "base/files.hpp"

namespace coracle::base {

namespace {

constexpr int walk_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

class Meter {
public:
    TreeUse use() const { return use_; }

    void add(const struct stat& status) {
        const bool shared = !S_ISDIR(status.st_mode) && status.st_nlink > 1;
        if (shared && !seen_.emplace(status.st_dev, status.st_ino).second) return;
        use_.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512U;
        ++use_.entries;
    }

    // Adds what lies in `dir` and returns its subdirectories.
    std::vector<std::string> add_content(int dir_fd) {
        std::vector<std::string> folders;
        auto names = list_dir(dir_fd);
        if (!names) return folders;
        for (std::string& name : names.value()) {
            struct stat status {};
            if (::fstatat(dir_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            add(status);
            if (S_ISDIR(status.st_mode)) folders.push_back(std::move(name));
        }
        return folders;
    }

private:
    TreeUse use_;
    std::set<std::pair<dev_t, ino_t>> seen_;  // files with several names
};

void walk(UniqueFd at, Meter& meter) {
    std::vector<std::vector<std::string>> open{meter.add_content(at.get())};
    while (!open.empty()) {
        if (open.back().empty()) {
            open.pop_back();
            if (open.empty()) return;
            at = UniqueFd(::openat(at.get(), "..", walk_flags));
            if (!at) return;
            continue;
        }
        const std::string name = std::move(open.back().back());
        open.back().pop_back();
        UniqueFd next(::openat(at.get(), name.c_str(), walk_flags));
        if (!next) continue;
        at = std::move(next);
        open.push_back(meter.add_content(at.get()));
    }
}

}  // namespace

std::uint64_t tree_size_at(int dir_fd, const std::string& name) { return tree_use_at(dir_fd, name).bytes; }

TreeUse tree_use_at(int dir_fd, const std::string& name) {
    Meter meter;
    struct stat status {};
    if (::fstatat(dir_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
    meter.add(status);
    UniqueFd top(::openat(dir_fd, name.c_str(), walk_flags));
    if (S_ISDIR(status.st_mode) && top) walk(std::move(top), meter);
    return meter.use();
}

}  // namespace coracle::base

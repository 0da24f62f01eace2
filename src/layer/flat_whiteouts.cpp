// Whiteouts that remove what they hide, for a tree that takes all layers.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::layer {

namespace {

// Own entries are known by the inode of their directory and their name, since a directory can have several paths (links
// in the image). A number that is freed and used again belongs to a new directory of the same layer: the set stays
// true.
class FlatWhiteouts final : public Whiteouts {
public:
    void begin_layer() override { own_.clear(); }

    Result<> note(int parent_fd, const std::string& name) override {
        TRY(const ino_t folder, inode_of(parent_fd));
        own_.emplace(folder, name);
        return {};
    }

    bool is_lower(int parent_fd, const std::string& name) const override {
        const auto folder = inode_of(parent_fd);
        return folder && base::exists_at(parent_fd, name) && !own_.contains({folder.value(), name});
    }

    Result<> hide(int parent_fd, const std::string& name) override {
        struct stat status {};
        if (::fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};  // nothing to hide
        TRY(const ino_t folder, inode_of(parent_fd));
        if (!own_.contains({folder, name})) return base::remove_tree_at(parent_fd, name);
        if (!S_ISDIR(status.st_mode)) return {};
        TRY(const base::UniqueFd dir, base::open_file_at(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        return hide_content(dir.get());
    }

    // Recursion is bounded by Limits::path_depth: nothing deeper was written.
    Result<> hide_content(int dir_fd) override {
        TRY(const auto names, base::list_dir(dir_fd));
        for (const std::string& name : names) TRY_OK(hide(dir_fd, name));
        return {};
    }

private:
    static Result<ino_t> inode_of(int dir_fd) {
        struct stat status {};
        if (::fstat(dir_fd, &status) != 0) return os_error("stat a directory", errno);
        return status.st_ino;
    }

    std::set<std::pair<ino_t, std::string>> own_;
};

}  // namespace

std::unique_ptr<Whiteouts> flat_whiteouts() { return std::make_unique<FlatWhiteouts>(); }

}  // namespace coracle::layer

// Implements the flat copy of an image.
#include "snapshot/merge.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/copy_file.hpp"
#include "layer/entry_path.hpp"

namespace coracle::snapshot {

namespace {

using Node = MergedLayers::Node;

Error failed(std::string_view act, const std::string& path) {
    return os_error(std::string(act) + " '" + layer::printable(path) + "'", errno);
}

class Merge {
public:
    Merge(const MergedLayers& layers, int target) : layers_(layers), target_(target) {}

    // Recursion is bounded by Limits::path_depth: nothing deeper was unpacked.
    Result<> copy_content(const MergedLayers::Directory& directory, int to) {
        TRY(const auto names, layers_.names(directory));
        for (const std::string& name : names) {
            TRY(const Node node, layers_.look_up(directory, name));
            TRY_OK(copy(node, name, to));
        }
        return {};
    }

    Result<> copy_root_attributes() {
        for (const std::size_t tree : layers_.root().trees) {
            struct stat status {};
            if (::fstat(layers_.tree_fd(tree), &status) != 0) return failed("stat", "/");
            // A layer that says nothing about the root leaves it at the epoch.
            if (status.st_mtim.tv_sec == 0 && status.st_mtim.tv_nsec == 0) continue;
            return layer::copy_attributes(layers_.tree_fd(tree), "", status, target_);
        }
        return {};
    }

private:
    Result<> copy(const Node& node, const std::string& name, int to) {
        const int tree = layers_.tree_fd(node.tree);
        if (node.kind == Node::Kind::directory) return copy_directory(node, name, to);
        const auto key = std::pair(node.tree, node.status.st_ino);
        if (node.status.st_nlink > 1) {
            const auto [first, is_first] = first_names_.emplace(key, node.path);
            if (!is_first) return link(first->second, name, to);
        }
        if (!S_ISREG(node.status.st_mode)) return layer::copy_special(tree, node.path, node.status, to, name);
        TRY(const base::UniqueFd file, base::open_file_at(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
        return layer::copy_file(tree, node.path, node.status, file.get());
    }

    Result<> copy_directory(const Node& node, const std::string& name, int to) {
        TRY_OK(base::make_dir_at(to, name, 0700));
        TRY(const base::UniqueFd dir, base::open_file_at(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        TRY_OK(copy_content(node.directory, dir.get()));
        // Last: writing changes the time, and the mode may forbid it.
        return layer::copy_attributes(layers_.tree_fd(node.tree), node.path, node.status, dir.get());
    }

    // No link is on the way to the first name: it is a path of directories that were made here.
    Result<> link(const std::string& first, const std::string& name, int to) {
        if (::linkat(target_, first.c_str(), to, name.c_str(), 0) == 0) return {};
        return failed("link", first);
    }

    const MergedLayers& layers_;
    int target_;
    std::map<std::pair<std::size_t, ino_t>, std::string> first_names_;  // of files with several names
};

}  // namespace

Result<> merge_into(const MergedLayers& layers, int target_fd) {
    Merge merge(layers, target_fd);
    TRY_OK(merge.copy_content(layers.root(), target_fd));
    return merge.copy_root_attributes();
}

}  // namespace coracle::snapshot

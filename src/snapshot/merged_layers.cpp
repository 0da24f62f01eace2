// Implements the lookup through the layers.
#include "snapshot/merged_layers.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::snapshot {

namespace {

Error failed(std::string_view act, const std::string& path) {
    return os_error(std::string(act) + " '" + layer::printable(path) + "'", errno);
}

std::string joined(const std::string& parent, const std::string& name) {
    return parent.empty() ? name : parent + "/" + name;
}

Result<base::UniqueFd> open_below(int tree, const std::string& path) {
    return base::open_file_at(tree, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

bool is_whiteout(const struct stat& status) { return S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(0, 0); }

}  // namespace

std::vector<std::string> components_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        if (slash > at) parts.push_back(path.substr(at, slash - at));
        at = slash + 1;
    }
    return parts;
}

Result<MergedLayers> MergedLayers::open(const std::vector<std::filesystem::path>& trees) {
    MergedLayers merged;
    for (const auto& tree : trees) TRY_OK(merged.add(tree));
    return merged;
}

Result<> MergedLayers::add(const std::filesystem::path& tree) {
    TRY(base::UniqueFd dir, base::open_dir(tree));
    trees_.push_back(std::move(dir));
    return {};
}

bool MergedLayers::is_opaque(std::size_t tree, const std::string& path) const {
    const auto dir = open_below(tree_fd(tree), path);
    if (!dir) return false;
    for (const auto mark : {layer::OpaqueMark::trusted, layer::OpaqueMark::user}) {
        char value = 0;
        if (::fgetxattr(dir->get(), layer::xattr_name(mark), &value, 1) == 1 && value == 'y') return true;
    }
    return false;
}

MergedLayers::Directory MergedLayers::root() const {
    Directory root;
    for (std::size_t tree = trees_.size(); tree-- > 0;) {
        root.trees.push_back(tree);
        if (is_opaque(tree, "")) break;
    }
    return root;
}

Result<MergedLayers::Node> MergedLayers::look_up(const Directory& directory, const std::string& name) const {
    Node node;
    node.path = joined(directory.path, name);
    for (const std::size_t tree : directory.trees) {
        struct stat status {};
        // No link is on the way: all that lies above was looked up as a directory of this tree.
        if (::fstatat(tree_fd(tree), node.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue;
            return failed("stat", node.path);
        }
        const bool first = node.kind == Node::Kind::nothing;
        if (is_whiteout(status) || (!first && !S_ISDIR(status.st_mode))) break;
        if (first) {
            node.tree = tree;
            node.status = status;
            node.kind = S_ISDIR(status.st_mode)   ? Node::Kind::directory
                        : S_ISLNK(status.st_mode) ? Node::Kind::link
                                                  : Node::Kind::other;
        }
        if (node.kind != Node::Kind::directory) break;
        node.directory.trees.push_back(tree);
        if (is_opaque(tree, node.path)) break;
    }
    node.directory.path = node.path;
    return node;
}

Result<std::vector<std::string>> MergedLayers::names(const Directory& directory) const {
    std::set<std::string> seen;
    for (const std::size_t tree : directory.trees) {
        TRY(const base::UniqueFd dir, open_below(tree_fd(tree), directory.path));
        TRY(const auto names, base::list_dir(dir.get()));
        seen.insert(names.begin(), names.end());
    }
    std::vector<std::string> found;
    for (const std::string& name : seen) {
        TRY(const Node node, look_up(directory, name));
        if (node.kind != Node::Kind::nothing) found.push_back(name);
    }
    return found;
}

Result<std::string> MergedLayers::read_link(const Node& node) const {
    std::array<char, 4097> target{};
    const ssize_t length = ::readlinkat(tree_fd(node.tree), node.path.c_str(), target.data(), target.size());
    if (length < 0) return failed("read link", node.path);
    return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::optional<layer::LowerLayers::Found>> MergedLayers::find(const std::string& path) const {
    Directory directory = root();
    const auto parts = components_of(path);
    for (std::size_t at = 0; at < parts.size(); ++at) {
        TRY(Node node, look_up(directory, parts[at]));
        const bool last = at + 1 == parts.size();
        if (node.kind == Node::Kind::nothing || (!last && node.kind != Node::Kind::directory)) break;
        if (last) return std::optional<Found>(Found{tree_fd(node.tree), node.path, node.status});
        directory = std::move(node.directory);
    }
    return std::optional<Found>();
}

}  // namespace coracle::snapshot

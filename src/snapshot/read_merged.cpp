// Implements the walk over the merged layers, one path component at a time.
#include "snapshot/read_merged.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <deque>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"
#include "snapshot/merged_layers.hpp"

namespace coracle::snapshot {

namespace {

constexpr int most_links = 40;  // as the kernel's MAXSYMLINKS

using Node = MergedLayers::Node;

Result<std::string> read_regular(int tree, const std::string& path, Bytes bound) {
    TRY(const base::UniqueFd file, base::open_file_at(tree, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return os_error("stat '" + layer::printable(path) + "'", errno);
    if (!S_ISREG(status.st_mode)) {
        return make_error(ErrorCode::corrupt, "'" + layer::printable(path) + "' is not a regular file");
    }
    return base::read_all(file.get(), bound, layer::printable(path));
}

// One path component at a time.
class Walk {
public:
    explicit Walk(const MergedLayers& layers) : layers_(layers) { trail_.push_back(layers.root()); }

    Result<std::optional<std::string>> read(const std::string& path, Bytes bound) {
        go(path);
        while (!pending_.empty()) {
            const std::string name = std::move(pending_.front());
            pending_.pop_front();
            if (name == ".") continue;
            if (name == "..") {
                if (trail_.size() > 1) trail_.pop_back();  // the root's parent is the root
                continue;
            }
            TRY(Node node, layers_.look_up(trail_.back(), name));
            switch (node.kind) {
                case Node::Kind::nothing: return std::optional<std::string>();
                case Node::Kind::directory: trail_.push_back(std::move(node.directory)); break;
                case Node::Kind::link: TRY_OK(follow(node)); break;
                case Node::Kind::other: return at_file(node, bound);
            }
        }
        return make_error(ErrorCode::corrupt, "it is a directory");
    }

private:
    void go(const std::string& path) {
        const auto parts = components_of(path);
        pending_.insert(pending_.begin(), parts.begin(), parts.end());
    }

    Result<> follow(const Node& link) {
        TRY(const std::string target, layers_.read_link(link));
        if (++links_ > most_links || pending_.size() > 4096) {
            return make_error(ErrorCode::corrupt, "too many symbolic links");
        }
        if (target.starts_with('/')) trail_.resize(1);
        go(target);
        return {};
    }

    Result<std::optional<std::string>> at_file(const Node& node, Bytes bound) const {
        if (!pending_.empty()) return std::optional<std::string>();  // a file where a directory would be needed
        TRY(std::string text, read_regular(layers_.tree_fd(node.tree), node.path, bound));
        return std::optional<std::string>(std::move(text));
    }

    const MergedLayers& layers_;
    std::vector<MergedLayers::Directory> trail_;  // from the root to where the walk stands
    std::deque<std::string> pending_;
    int links_ = 0;
};

}  // namespace

Result<std::optional<std::string>> read_merged(const std::vector<std::filesystem::path>& layers,
                                               const std::string& path, Bytes bound) {
    TRY(const MergedLayers merged, MergedLayers::open(layers));
    return Walk(merged).read(path, bound).within("image file '" + layer::printable(path) + "'");
}

}  // namespace coracle::snapshot

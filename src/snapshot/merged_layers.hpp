// The layers of an image as one tree, the way overlayfs shows them, without a mount.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "layer/lower_layers.hpp"

namespace coracle::snapshot {

class MergedLayers final : public layer::LowerLayers {
public:
    // Trees of layers, lowest first.
    static Result<MergedLayers> open(const std::vector<std::filesystem::path>& trees);
    // Another one on top.
    Result<> add(const std::filesystem::path& tree);

    // One directory: where it lies, and in which trees, topmost first.
    struct Directory {
        std::string path;
        std::vector<std::size_t> trees;
    };
    struct Node {
        enum class Kind { nothing, directory, link, other } kind = Kind::nothing;
        std::string path;
        std::size_t tree = 0;  // the topmost that has it
        struct stat status {};
        Directory directory;  // of a directory
    };

    Directory root() const;
    // The topmost entry counts; directories merge downwards until something else, a whiteout or an opaque one ends it.
    Result<Node> look_up(const Directory& directory, const std::string& name) const;
    // All names that look_up finds, sorted.
    Result<std::vector<std::string>> names(const Directory& directory) const;
    Result<std::string> read_link(const Node& node) const;
    int tree_fd(std::size_t tree) const { return trees_[tree].get(); }

    Result<std::optional<Found>> find(const std::string& path) const override;

private:
    bool is_opaque(std::size_t tree, const std::string& path) const;

    std::vector<base::UniqueFd> trees_;  // lowest first
};

// "a//b/" -> a, b.
std::vector<std::string> components_of(const std::string& path);

}  // namespace coracle::snapshot

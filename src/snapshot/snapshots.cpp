// Implements the unpacking into the store and into a flat tree.
#include "snapshot/snapshots.hpp"

#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "snapshot/intake.hpp"
#include "snapshot/layer_trees.hpp"
#include "snapshot/merge.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::snapshot {

namespace {

bool is_opaque_root(const std::filesystem::path& tree, layer::OpaqueMark mark) {
    char value = 0;
    return ::lgetxattr(tree.c_str(), layer::xattr_name(mark), &value, 1) == 1 && value == 'y';
}

// From the topmost layer down: each once - its highest place counts -, and nothing below an opaque root. No value: a
// layer is not unpacked.
std::optional<std::vector<std::filesystem::path>> stack_of(const std::filesystem::path& root, const LayerTrees& trees,
                                                           const std::vector<oci::DiffId>& diff_ids,
                                                           layer::OpaqueMark mark) {
    std::vector<std::filesystem::path> stack;
    for (std::size_t at = diff_ids.size(); at-- > 0;) {
        if (std::find(diff_ids.begin() + static_cast<std::ptrdiff_t>(at) + 1, diff_ids.end(), diff_ids[at]) !=
            diff_ids.end()) {
            continue;
        }
        const auto tree = trees.find(at);
        if (!tree) return std::nullopt;
        stack.push_back(root / *tree / "fs");
        if (is_opaque_root(stack.back(), mark)) break;
    }
    std::reverse(stack.begin(), stack.end());
    return stack;
}

Result<> empty_directory(int dir_fd) {
    TRY(const auto names, base::list_dir(dir_fd));
    for (const std::string& name : names) TRY_OK(base::remove_tree_at(dir_fd, name));
    return {};
}

std::vector<IncomingLayer> layers_of(const image::Image& image) {
    std::vector<IncomingLayer> layers;
    for (std::size_t at = 0; at < image.layers.size(); ++at) {
        layers.push_back({.descriptor = image.layers[at], .diff_id = image.config.diff_ids[at], .open = {}});
    }
    return layers;
}

Result<> check_layers(const image::Image& image) {
    if (image.layers.empty()) return make_error(ErrorCode::unsupported, "image '" + image.ref + "' has no layers");
    if (image.layers.size() == image.config.diff_ids.size()) return {};
    return make_error(ErrorCode::corrupt, "image '" + image.ref + "' has not as many diff_ids as layers");
}

Result<base::UniqueFd> open_empty(const std::filesystem::path& target) {
    TRY_OK(base::make_dirs(target));
    TRY(base::UniqueFd root, base::open_dir(target));
    TRY(const auto present, base::list_dir(root.get()));
    if (present.empty()) return root;
    return make_error(ErrorCode::invalid_request, "'" + target.string() + "' is not empty", "name a new directory");
}

}  // namespace

Result<std::vector<std::filesystem::path>> Snapshots::prepare(const image::Image& image, plan::Ownership ownership,
                                                              const base::IdMaps& maps) const {
    TRY_OK(check_layers(image).at(Stage::unpack));
    const auto& diff_ids = image.config.diff_ids;
    const LayerTrees trees(store_, diff_ids, folder_of(ownership, maps));
    auto stack = stack_of(store_.root(), trees, diff_ids, opaque_mark_of(ownership));
    if (!stack) {
        Intake intake(store_, {.ownership = ownership, .maps = maps, .limits = limits_});
        TRY_OK(intake.take(layers_of(image)));
        stack = stack_of(store_.root(), trees, diff_ids, opaque_mark_of(ownership));
    }
    if (stack) return std::move(*stack);
    return make_error(ErrorCode::internal, "an unpacked layer of image '" + image.ref + "' is not found again")
        .at(Stage::unpack);
}

Result<> Snapshots::flatten(const image::Image& image, plan::Ownership ownership, const base::IdMaps& maps,
                            const std::filesystem::path& target) const {
    TRY(const base::UniqueFd root, open_empty(target).at(Stage::unpack));
    TRY(const auto layers, prepare(image, ownership, maps));
    const auto copy = [&]() -> Result<std::string> {
        TRY(const MergedLayers merged, MergedLayers::open(layers));
        if (auto copied = merge_into(merged, root.get()); !copied) {
            (void)empty_directory(root.get());
            return std::move(copied).error();
        }
        return std::string();
    };
    TRY_OK(run_unlocked(ownership, maps, copy).at(Stage::unpack));
    return {};
}

}  // namespace coracle::snapshot

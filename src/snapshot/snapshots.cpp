// Implements the unpacking into the store and into a flat tree.
#include "snapshot/snapshots.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "layer/apply.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::snapshot {

namespace paths = content::paths;

// A layer to be unpacked, and its folder in the scratch folder.
struct Snapshots::Missing {
    oci::Descriptor layer;
    oci::DiffId diff_id;
    std::string target;  // below STORE
    std::string folder;
};

namespace {

constexpr mode_t tree_mode = 0755;

Result<> unpack_blob(const content::Store& store, const oci::Descriptor& layer, const oci::DiffId& diff_id,
                     layer::TreeWriter& tree, const layer::Limits& limits) {
    TRY(const base::UniqueFd blob, store.open_blob(layer.digest, layer.size));
    return layer::apply_layer({blob.get(), layer.digest, layer.size, diff_id}, tree, limits);
}

bool is_opaque_root(const std::filesystem::path& tree, layer::OpaqueMark mark) {
    char value = 0;
    return ::lgetxattr(tree.c_str(), layer::xattr_name(mark), &value, 1) == 1 && value == 'y';
}

// From the topmost layer down: each once, and nothing below an opaque root.
std::vector<std::filesystem::path> stack_of(const std::filesystem::path& root, const image::Image& image,
                                            const std::string& owner_folder, layer::OpaqueMark mark) {
    std::vector<std::filesystem::path> stack;
    for (std::size_t at = image.layers.size(); at-- > 0;) {
        auto tree = root / paths::layer_root(image.config.diff_ids[at], owner_folder);
        if (std::find(stack.begin(), stack.end(), tree) != stack.end()) continue;
        stack.push_back(std::move(tree));
        if (is_opaque_root(stack.back(), mark)) break;
    }
    std::reverse(stack.begin(), stack.end());
    return stack;
}

Result<> make_tree(int dir_fd, const std::string& folder) {
    TRY_OK(base::make_dir_at(dir_fd, folder, tree_mode));
    return base::make_dir_at(dir_fd, folder + "/fs", tree_mode);
}

// EEXIST and ENOTEMPTY: somebody else unpacked the same layer meanwhile, and theirs is as good.
Result<> publish(int scratch, const std::string& folder, int store, const oci::DiffId& diff_id,
                 const std::string& target) {
    TRY_OK(base::make_dir_at(store, paths::layer_group(diff_id), 0700));
    if (::renameat(scratch, folder.c_str(), store, target.c_str()) == 0) return {};
    if (errno == EEXIST || errno == ENOTEMPTY) return {};
    return os_error("rename to '" + target + "'", errno);
}

Result<> empty_directory(int dir_fd) {
    TRY(const auto names, base::list_dir(dir_fd));
    for (const std::string& name : names) TRY_OK(base::remove_tree_at(dir_fd, name));
    return {};
}

Result<> check_layers(const image::Image& image) {
    if (image.layers.empty()) return make_error(ErrorCode::unsupported, "image '" + image.ref + "' has no layers");
    if (image.layers.size() == image.config.diff_ids.size()) return {};
    return make_error(ErrorCode::corrupt, "image '" + image.ref + "' has not as many diff_ids as layers");
}

}  // namespace

std::vector<Snapshots::Missing> Snapshots::missing_of(const image::Image& image,
                                                      const std::string& owner_folder) const {
    std::vector<Missing> missing;
    for (std::size_t at = 0; at < image.layers.size(); ++at) {
        const oci::DiffId& diff_id = image.config.diff_ids[at];
        std::string target = paths::layer(diff_id, owner_folder);
        const auto same = [&target](const Missing& other) { return other.target == target; };
        if (base::exists_at(store_.dir().get(), target) || std::any_of(missing.begin(), missing.end(), same)) continue;
        missing.push_back(Missing{image.layers[at], diff_id, std::move(target), std::to_string(at)});
    }
    return missing;
}

Result<> Snapshots::unpack(const std::vector<Missing>& layers, plan::Ownership ownership,
                           const base::IdMaps& maps) const {
    TRY(const content::Scratch scratch, store_.new_scratch());
    const int dir = scratch.dir().get();
    // Made by the caller, not in the user namespace: only the owner of a folder can rename it later.
    for (const Missing& layer : layers) TRY_OK(make_tree(dir, layer.folder));

    const auto unpack_one = [&](const Missing& layer) -> Result<> {
        TRY(const base::UniqueFd root, base::open_dir_at(dir, layer.folder + "/fs"));
        layer::TreeWriter tree(root.get(), owners_of(ownership), layer::overlay_whiteouts(opaque_mark_of(ownership)));
        TRY_OK(unpack_blob(store_, layer.layer, layer.diff_id, tree, limits_));
        return std::move(tree).finish();
    };
    const auto unpack_all = [&]() -> Result<> {
        // What a killed namesake left can only be removed with its ids, and this is the place that has them.
        if (ownership == plan::Ownership::subids) content::sweep_scratch(store_.dir());
        for (const Missing& layer : layers) {
            auto unpacked = unpack_one(layer);
            if (unpacked) continue;
            (void)empty_directory(dir);
            return unpacked;
        }
        return {};
    };
    TRY_OK(run_as(ownership, maps, unpack_all));

    // Once for all layers: after a power cut a layer that can be seen must be whole.
    if (::syncfs(dir) != 0) return os_error("sync the unpacked layers", errno);
    for (const Missing& layer : layers) {
        TRY_OK(publish(dir, layer.folder, store_.dir().get(), layer.diff_id, layer.target));
    }
    return {};
}

Result<std::vector<std::filesystem::path>> Snapshots::prepare(const image::Image& image, plan::Ownership ownership,
                                                              const base::IdMaps& maps) const {
    TRY_OK(check_layers(image).at(Stage::unpack));
    const std::string owner_folder = folder_of(ownership, maps);
    const auto missing = missing_of(image, owner_folder);
    if (!missing.empty()) TRY_OK(unpack(missing, ownership, maps).at(Stage::unpack));
    return stack_of(store_.root(), image, owner_folder, opaque_mark_of(ownership));
}

Result<> Snapshots::flatten(const image::Image& image, plan::Ownership ownership, const base::IdMaps& maps,
                            const std::filesystem::path& target) const {
    TRY_OK(check_layers(image).at(Stage::unpack));
    TRY_OK(base::make_dirs(target).at(Stage::unpack));
    TRY(const base::UniqueFd root, base::open_dir(target).at(Stage::unpack));
    TRY(const auto present, base::list_dir(root.get()));
    if (!present.empty()) {
        return make_error(ErrorCode::invalid_request, "'" + target.string() + "' is not empty", "name a new directory")
            .at(Stage::unpack);
    }
    const auto unpack_all = [&]() -> Result<> {
        layer::TreeWriter tree(root.get(), owners_of(ownership), layer::flat_whiteouts());
        for (std::size_t at = 0; at < image.layers.size(); ++at) {
            TRY_OK(unpack_blob(store_, image.layers[at], image.config.diff_ids[at], tree, limits_));
        }
        return std::move(tree).finish();
    };
    return run_as(ownership, maps,
                  [&]() -> Result<> {
                      auto unpacked = unpack_all();
                      if (!unpacked) (void)empty_directory(root.get());
                      return unpacked;
                  })
        .at(Stage::unpack);
}

}  // namespace coracle::snapshot

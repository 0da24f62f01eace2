// Implements the unpacking into the store and into a flat tree.
#include "snapshot/snapshots.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "layer/apply.hpp"
#include "snapshot/intake.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::snapshot {

namespace paths = content::paths;

namespace {

Result<> unpack_blob(const content::Store& store, const oci::Descriptor& layer, const oci::DiffId& diff_id,
                     layer::TreeWriter& tree, const layer::Limits& limits) {
    TRY(const base::UniqueFd blob, store.open_blob(layer.digest, layer.size));
    layer::FileSource file(blob.get());
    TRY(auto source, layer::VerifyingSource::create(file, layer.digest, layer.size));
    TRY_OK(layer::apply_layer(source, layer.size, diff_id, tree, limits).within("layer " + layer.digest.short_hex()));
    return std::move(source).finish().within("layer " + layer.digest.short_hex());
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

}  // namespace

bool Snapshots::is_complete(const image::Image& image, const std::string& owner_folder) const {
    return std::all_of(image.config.diff_ids.begin(), image.config.diff_ids.end(), [&](const oci::DiffId& diff_id) {
        return base::exists_at(store_.dir().get(), paths::layer(diff_id, owner_folder));
    });
}

Result<std::vector<std::filesystem::path>> Snapshots::prepare(const image::Image& image, plan::Ownership ownership,
                                                              const base::IdMaps& maps) const {
    TRY_OK(check_layers(image).at(Stage::unpack));
    const std::string owner_folder = folder_of(ownership, maps);
    if (!is_complete(image, owner_folder)) {
        Intake intake(store_, {.ownership = ownership, .maps = maps, .limits = limits_});
        TRY_OK(intake.take(layers_of(image)));
    }
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

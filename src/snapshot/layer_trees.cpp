// Implements the two names of a layer's tree.
#include "snapshot/layer_trees.hpp"

#include "base/files.hpp"
#include "content/hasher.hpp"
#include "content/paths.hpp"

namespace coracle::snapshot {

std::vector<oci::DiffId> LayerTrees::chained(const std::vector<oci::DiffId>& diff_ids) {
    std::vector<oci::DiffId> ids;
    std::string below;
    for (const oci::DiffId& diff_id : diff_ids) {
        // The lowest gets a digest of its own as well: where nothing is below, reaching down has another outcome, too.
        auto digest = content::digest_of(below + " " + diff_id.digest.str());
        below = digest.value().str();  // sha256 is always there
        ids.push_back(oci::DiffId{std::move(digest).value()});
    }
    return ids;
}

LayerTrees::LayerTrees(const content::Store& store, const std::vector<oci::DiffId>& diff_ids, std::string owner_folder)
    : store_(store), alone_(diff_ids), chained_(chained(diff_ids)), owner_folder_(std::move(owner_folder)) {}

std::string LayerTrees::target(std::size_t at, bool reaches_down) const {
    return content::paths::layer(reaches_down ? chained_[at] : alone_[at], owner_folder_);
}

std::optional<std::string> LayerTrees::find(std::size_t at) const {
    for (const bool reaches_down : {false, true}) {
        std::string folder = target(at, reaches_down);
        if (base::exists_at(store_.dir().get(), folder)) return folder;
    }
    return std::nullopt;
}

}  // namespace coracle::snapshot

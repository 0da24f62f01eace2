// Where the unpacked layers of an image lie in the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "content/store.hpp"
#include "oci/digest.hpp"

namespace coracle::snapshot {

// Most layers are the same whatever is below them, and lie under their diff_id. One that reaches down - by a hard link
// to a lower file, or by a directory that it takes for granted - is another one above other layers: it lies under a
// digest of all diff_ids up to its own.
class LayerTrees {
public:
    // The ids under which layers that reach down lie, one for each layer.
    static std::vector<oci::DiffId> chained(const std::vector<oci::DiffId>& diff_ids);

    // `store` must outlive it. `owner_folder` is what folder_of() says.
    LayerTrees(const content::Store& store, const std::vector<oci::DiffId>& diff_ids, std::string owner_folder);

    // "layers/<hex>/<ownership>" of the layer at that place, whose tree is the folder "fs" in it. No value: not
    // unpacked.
    std::optional<std::string> find(std::size_t at) const;
    // Where to put one that does not reach down, or does.
    std::string target(std::size_t at, bool reaches_down) const;

private:
    const content::Store& store_;
    std::vector<oci::DiffId> alone_;
    std::vector<oci::DiffId> chained_;
    std::string owner_folder_;
};

}  // namespace coracle::snapshot

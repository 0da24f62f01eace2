// Draws the tree of the store and is the only place that joins its paths.
//
//   STORE/
//     oci-layout  index.json        an OCI image layout: other tools can read the store
//     index.json.lock               held while index.json is replaced
//     content.lock                  who brings content in shares it, who removes content holds it alone
//     blobs/<algorithm>/<hex>       complete and verified, never changed afterwards
//     tmp/.sweep                    held while an entry of tmp/ is made or swept
//     tmp/<random>.lock             held while the owner of tmp/<random> lives
//     tmp/<random>/                 what is being written; renamed away when it is whole
//     layers/<hex>/<ownership>/fs   one unpacked layer by the hex digits of its diff_id, overlay whiteouts
//     flat/<hex>/<ownership>/fs     all layers of an image by the hex digits of its chain ID, for hosts without
//     overlayfs
//
// What is removed and what is not:
//   - Needed is what a name in index.json needs (its manifest, config, layers, trees), and what a leased manifest
//   needs.
//   - A run leases its image: it shares a flock on the manifest's blob as long as it lives. The blob's time is that of
//     its last use.
//   - An import or pull shares content.lock from its first look at the store until its image has a name.
//   - gc and rmi hold content.lock alone, take names away first, then move what nobody needs to a folder in tmp/ -
//     manifests first, each only where its blob can be locked alone - and delete it there without any lock.
//   - All of these locks die with their holders, and each step leaves a store that is right: a killed gc leaves what
//   the
//     next one finds, and a folder in tmp/ which the next coracle sweeps.
#pragma once

#include <string>
#include <string_view>

#include "oci/digest.hpp"

namespace coracle::content::paths {

// All relative to STORE.
inline const std::string layout_marker = "oci-layout";
inline const std::string index = "index.json";
inline const std::string index_lock = "index.json.lock";
inline const std::string content_lock = "content.lock";
inline const std::string blobs = "blobs";
inline const std::string temporary = "tmp";
inline const std::string sweep_lock = "tmp/.sweep";
inline const std::string layers = "layers";
inline const std::string flat = "flat";

inline std::string blob_folder(std::string_view algorithm) { return blobs + "/" + std::string(algorithm); }
inline std::string blob(const oci::Digest& digest) {
    return blob_folder(digest.algorithm()) + "/" + std::string(digest.hex());
}

inline std::string scratch(std::string_view name) { return temporary + "/" + std::string(name); }
inline std::string scratch_lock(std::string_view name) { return scratch(name) + ".lock"; }

// sha256 and sha512 differ in the number of digits, so that the algorithm need not stand in the path: overlayfs takes
// only one page of layer paths through mount(2).
inline std::string layer_group(const oci::DiffId& diff_id) { return layers + "/" + std::string(diff_id.digest.hex()); }
inline std::string layer(const oci::DiffId& diff_id, std::string_view ownership) {
    return layer_group(diff_id) + "/" + std::string(ownership);
}
inline std::string layer_root(const oci::DiffId& diff_id, std::string_view ownership) {
    return layer(diff_id, ownership) + "/fs";
}

inline std::string flat_group(const oci::Digest& chain_id) { return flat + "/" + std::string(chain_id.hex()); }
inline std::string flat_tree(const oci::Digest& chain_id, std::string_view ownership) {
    return flat_group(chain_id) + "/" + std::string(ownership);
}

}  // namespace coracle::content::paths

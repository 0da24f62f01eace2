// Unpacks one layer blob into a tree: decompressed, verified and written in one pass.
#pragma once

#include <cstdint>
#include <string>

#include "layer/limits.hpp"
#include "layer/tree_writer.hpp"
#include "oci/digest.hpp"

namespace coracle::layer {

// A layer's blob as the manifest names it, and the digest of the tar within as the image config names it.
struct LayerBlob {
    int fd;  // at its beginning; lent
    oci::Digest digest;
    std::uint64_t size;
    oci::DiffId diff_id;
};

// Error: corrupt where the blob, its digest, its size, its diff_id or its tar is wrong, or a limit is exceeded. The
// tree then holds a part of the layer: throw it away. Messages begin with the layer.
Result<> apply_layer(const LayerBlob& blob, TreeWriter& tree, const Limits& limits = {});

}  // namespace coracle::layer

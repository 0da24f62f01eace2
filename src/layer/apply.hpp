// Unpacks one layer into a tree: decompressed, verified and written in one pass.
#pragma once

#include <cstdint>

#include "layer/byte_source.hpp"
#include "layer/limits.hpp"
#include "layer/tree_writer.hpp"
#include "oci/digest.hpp"

namespace coracle::layer {

// `blob` brings the bytes of the layer as they are stored, `size` of them, and checks their digest itself; it is read
// to its end. Error: corrupt where the compression, the diff_id or the tar is wrong, or a limit is exceeded. The tree
// then holds a part of the layer: throw it away.
Result<> apply_layer(ByteSource& blob, std::uint64_t size, const oci::DiffId& diff_id, TreeWriter& tree,
                     const Limits& limits = {});

}  // namespace coracle::layer

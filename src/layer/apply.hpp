// Unpacks one layer into a tree: decompressed, verified and written in one pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "layer/byte_source.hpp"
#include "layer/limits.hpp"
#include "layer/tree_writer.hpp"
#include "oci/digest.hpp"

namespace coracle::layer {

// What all layers of one image take together; several threads may spend.
struct ImageBudget {
    std::atomic<std::uint64_t> entries{0};
    std::atomic<std::uint64_t> unpacked{0};
};

struct Unpacking {
    Limits limits{};
    ImageBudget* image = nullptr;
    bool pipelined = false;  // decompress in a thread of its own
};

// `blob` brings the bytes of the layer as they are stored, `size` of them, and checks their digest itself; it is read
// to its end. Gives the diff_id that the tar has; the caller compares. Error: corrupt where the compression or the tar
// is wrong, or a limit is exceeded. The tree then holds a part of the layer: throw it away.
Result<oci::DiffId> apply_layer(ByteSource& blob, std::uint64_t size, TreeWriter& tree, const Unpacking& how,
                                std::string_view algorithm = "sha256");

// The same for a layer whose diff_id is known: another one is an Error (corrupt).
Result<> apply_layer_as(const oci::DiffId& diff_id, ByteSource& blob, std::uint64_t size, TreeWriter& tree,
                        const Unpacking& how);

}  // namespace coracle::layer

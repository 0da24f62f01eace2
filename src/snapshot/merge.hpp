// Copies the layers of an image into one flat tree, which then shows what overlayfs would.
#pragma once

#include "coracle/error.hpp"
#include "snapshot/merged_layers.hpp"

namespace coracle::snapshot {

// `target_fd` is an empty directory.
Result<> merge_into(const MergedLayers& layers, int target_fd);

}  // namespace coracle::snapshot

// Bounds that keep a fuzzed image small, so that thousands a second can be tried and each bound is met.
#pragma once

#include "layer/limits.hpp"

namespace coracle::fuzz {

inline layer::Limits small_limits() {
    layer::Limits limits;
    limits.entries = 100;
    limits.image_entries = 150;
    limits.unpacked = 1_MiB;
    limits.image_unpacked = 2_MiB;
    limits.stream = 2_MiB;
    limits.expansion_free = 256_KiB;
    limits.path_depth = 32;
    limits.header = 16_KiB;
    limits.decoder = 1_MiB;
    limits.layers = 8;
    limits.archive_members = 100;
    limits.document = 64_KiB;
    return limits;
}

}  // namespace coracle::fuzz

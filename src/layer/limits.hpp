// How much a layer may ask of the host that unpacks it; each bound's error names it.
#pragma once

#include <cstdint>

#include "coracle/units.hpp"

namespace coracle::layer {

struct Limits {
    std::uint64_t entries = 1'000'000;  // files, directories and links of one layer: inodes
    Bytes unpacked = 64_GiB;            // apparent file sizes of one layer; sparse files count in full
    Bytes stream = 66_GiB;              // bytes of the uncompressed tar, so that padding is bounded as well
    std::uint64_t expansion = 100;      // times that the tar may be larger than its blob, once above ...
    Bytes expansion_free = 1_GiB;       // ... this size: gzip of zeros reaches 1032, real layers stay below 10
    std::uint64_t path_bytes = 4095;    // PATH_MAX without its NUL: longer ones cannot be opened
    std::uint64_t path_depth = 256;     // components of one path
    Bytes header = 1_MiB;               // PAX, GNU long name and GNU long link records of one entry
    Bytes xattr = 64_KiB;               // one extended attribute: XATTR_SIZE_MAX
};

}  // namespace coracle::layer

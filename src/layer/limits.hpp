// How much an image may ask of the host that unpacks it; each bound's error names its key in the configuration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::layer {

struct Limits {
    std::uint64_t entries = 1'000'000;        // max_entries: files, directories and links of one layer
    std::uint64_t image_entries = 4'000'000;  // max_image_entries: of all layers of an image
    Bytes unpacked = 64_GiB;                  // max_unpacked: apparent file sizes of one layer; holes count in full
    Bytes image_unpacked = 128_GiB;           // max_image_unpacked: of all layers of an image
    Bytes stream = 66_GiB;                    // max_stream: bytes of one uncompressed tar, padding included
    std::uint64_t expansion = 100;            // max_expansion: times that a tar may be larger than its blob ...
    Bytes expansion_free = 768_MiB;           // expansion_free: ... above this size: zeros in gzip reach 1032
    std::uint64_t path_bytes = 4095;          // max_path: PATH_MAX without its NUL: longer ones cannot be opened
    std::uint64_t path_depth = 256;           // max_path_depth: components of one path
    Bytes header = 1_MiB;                     // max_pax: PAX, GNU long name and GNU long link records of one entry
    Bytes xattr = 64_KiB;                     // max_xattr: one extended attribute: XATTR_SIZE_MAX
    Bytes decoder = 16_MiB;                   // max_decoder_memory: window of zstd, dictionary of xz
    std::uint64_t layers = 500;               // max_layers: overlayfs stacks no more (OVL_MAX_STACK)
    std::uint64_t index_depth = 4;            // max_index_depth: indexes within indexes
    std::uint64_t archive_members = 20'000;   // max_archive_members: files of an archive of images
    Bytes document = 4_MiB;                   // max_document: a manifest, an index, a config, as registries have it
};

// "<what> exceeds the limit of <bound> (images.<key>)".
inline Error limit_exceeded(std::string_view what, const std::string& bound, std::string_view key,
                            ErrorCode code = ErrorCode::corrupt) {
    return make_error(code, std::string(what) + " exceeds the limit of " + bound + " (images." + std::string(key) + ")",
                      "if you trust the image, raise images." + std::string(key) + " in the configuration");
}
inline Error limit_exceeded(std::string_view what, Bytes bound, std::string_view key) {
    return limit_exceeded(what, to_string(bound), key);
}
inline Error limit_exceeded(std::string_view what, std::uint64_t bound, std::string_view key) {
    return limit_exceeded(what, std::to_string(bound), key);
}

}  // namespace coracle::layer

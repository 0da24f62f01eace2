// The bounds on images by their keys in the configuration's section `images`.
#pragma once

#include <array>
#include <cstdint>

#include "layer/limits.hpp"

namespace coracle::layer {

struct CountKey {
    const char* key;
    std::uint64_t Limits::*count;
};
struct SizeKey {
    const char* key;
    Bytes Limits::*bytes;
};
inline constexpr std::array count_keys{
    CountKey{"max_entries", &Limits::entries},         CountKey{"max_image_entries", &Limits::image_entries},
    CountKey{"max_expansion", &Limits::expansion},     CountKey{"max_path", &Limits::path_bytes},
    CountKey{"max_path_depth", &Limits::path_depth},   CountKey{"max_layers", &Limits::layers},
    CountKey{"max_index_depth", &Limits::index_depth}, CountKey{"max_archive_members", &Limits::archive_members}};
inline constexpr std::array size_keys{SizeKey{"max_unpacked", &Limits::unpacked},
                                      SizeKey{"max_image_unpacked", &Limits::image_unpacked},
                                      SizeKey{"max_stream", &Limits::stream},
                                      SizeKey{"expansion_free", &Limits::expansion_free},
                                      SizeKey{"max_pax", &Limits::header},
                                      SizeKey{"max_xattr", &Limits::xattr},
                                      SizeKey{"max_decoder_memory", &Limits::decoder},
                                      SizeKey{"max_document", &Limits::document}};

}  // namespace coracle::layer

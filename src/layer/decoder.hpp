// Decompresses a stream; gzip, zstd, xz and plain are told apart by content, never by name or media type.
#pragma once

#include <cstdint>
#include <memory>

#include "coracle/units.hpp"
#include "layer/byte_source.hpp"

namespace coracle::layer {

enum class Compression { none, gzip, zstd, xz };

struct Decoder {
    Compression compression = Compression::none;
    std::unique_ptr<ByteSource> source;  // the decompressed bytes
};

// What an archive may need; xz -9 takes 65 MiB (xz(1)).
inline constexpr Bytes archive_memory = 80_MiB;

// `compressed` must outlive the decoder. bzip2 and the other compressions of old are refused by name. A stream that
// asks for more than `memory` for its window or dictionary is an Error.
Result<Decoder> make_decoder(ByteSource& compressed, Bytes memory = archive_memory);

}  // namespace coracle::layer

// Decompresses a stream; gzip, zstd, xz and plain are told apart by content, never by name or media type.
#pragma once

#include <cstdint>
#include <memory>

#include "layer/byte_source.hpp"

namespace coracle::layer {

enum class Compression { none, gzip, zstd, xz };

struct Decoder {
    Compression compression = Compression::none;
    std::unique_ptr<ByteSource> source;  // the decompressed bytes
};

// `compressed` must outlive the decoder. bzip2 and the other compressions of old are refused by name. Memory stays
// bounded whatever the stream asks for (zstd window 128 MiB as zstd's own default, xz 64 MiB).
Result<Decoder> make_decoder(ByteSource& compressed);

}  // namespace coracle::layer

// The decompressors behind make_decoder; each reads its format to the end of the input, all members and frames.
#pragma once

#include <memory>

#include "coracle/units.hpp"
#include "layer/byte_source.hpp"
#include "layer/input_window.hpp"

namespace coracle::layer {

// With zlib; a program that links the library of ISA-L brings its own in (gzip_isal.cpp).
Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<InputWindow> input);
Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<InputWindow> input, Bytes memory);
Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<InputWindow> input, Bytes memory);

}  // namespace coracle::layer

// The decompressors behind make_decoder; each reads its format to the end of the input, all members and frames.
#pragma once

#include <memory>

#include "layer/byte_source.hpp"
#include "layer/input_window.hpp"

namespace coracle::layer {

Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<InputWindow> input);
Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<InputWindow> input);
Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<InputWindow> input);

}  // namespace coracle::layer

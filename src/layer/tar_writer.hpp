// Writes a tar archive in the PAX interchange format, byte for byte the same for the same entries. (libarchive's writer
// would pull every format and compression it knows into a static program.)
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "layer/tar_reader.hpp"

namespace coracle::layer {

class TarWriter {
public:
    using Sink = std::function<Result<>(std::string_view bytes)>;
    explicit TarWriter(Sink sink) : sink_(std::move(sink)) {}

    // A file's content follows in write() calls, exactly entry.size bytes of it.
    Result<> begin(const Entry& entry);
    Result<> write(std::string_view bytes);
    Result<> end_entry();  // pads; Error (internal) where bytes are missing
    Result<> finish();     // the end-of-archive mark

private:
    Result<> write_header(const Entry& entry);

    Sink sink_;
    std::uint64_t missing_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace coracle::layer

// Sources that stand between the bytes of a layer and its unpacking: progress and an early end; the blob on the side.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/try.hpp"
#include "content/blob_writer.hpp"
#include "layer/byte_source.hpp"
#include "snapshot/intake.hpp"

namespace coracle::snapshot {

inline constexpr const char* stopped = "given up because another layer failed";

// Reports how much has come, and ends with an Error once `stop` is set.
class WatchedSource final : public layer::ByteSource {
public:
    WatchedSource(layer::ByteSource& inner, const oci::Descriptor& layer, const Progress& progress,
                  const std::atomic<bool>& stop)
        : inner_(inner), layer_(layer), progress_(progress), stop_(stop) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        if (stop_) return make_error(ErrorCode::unavailable, stopped);
        TRY(const std::size_t got, inner_.read(buffer));
        count_ += got;
        if (progress_ && (count_ - told_ >= step || (got == 0 && count_ != told_))) {
            told_ = count_;
            progress_(layer_, count_);
        }
        return got;
    }

private:
    static constexpr std::uint64_t step = std::uint64_t{1} << 20U;

    layer::ByteSource& inner_;
    const oci::Descriptor& layer_;
    const Progress& progress_;
    const std::atomic<bool>& stop_;
    std::uint64_t count_ = 0;
    std::uint64_t told_ = 0;
};

// Writes the bytes into a blob of at most `size` bytes as they pass.
class TeeSource final : public layer::ByteSource {
public:
    TeeSource(layer::ByteSource& inner, content::BlobWriter& blob, std::uint64_t size)
        : inner_(inner), blob_(blob), size_(size) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        TRY(const std::size_t got, inner_.read(buffer));
        if (got > size_ - blob_.size()) return layer::wrong_size(blob_.size() + got, size_);
        TRY_OK(blob_.write({buffer.data(), got}));
        return got;
    }

private:
    layer::ByteSource& inner_;
    content::BlobWriter& blob_;
    std::uint64_t size_;
};

}  // namespace coracle::snapshot

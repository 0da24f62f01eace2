// Looks through an archive to tell what it holds.
#pragma once

#include <optional>

#include "layer/decoder.hpp"
#include "oci/digest.hpp"

namespace coracle::image {

enum class ArchiveKind { image, rootfs };

struct ArchiveScan {
    ArchiveKind kind = ArchiveKind::rootfs;
    layer::Compression compression = layer::Compression::none;
    std::optional<oci::DiffId> diff_id;  // of a rootfs: the whole of it was read
};

// Error: corrupt for what is no tar, unsupported for archives of Docker before 1.10.
Result<ArchiveScan> scan_archive(int fd);

}  // namespace coracle::image

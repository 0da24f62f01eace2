// Looks through an archive to tell what it holds.
#pragma once

#include "coracle/error.hpp"
#include "layer/limits.hpp"

namespace coracle::importer {

enum class ArchiveKind { image, rootfs };

// Reads no more of it than needed: a root file system is known by its first directories. Error: corrupt for what is no
// tar, unsupported for archives of Docker before 1.10.
Result<ArchiveKind> scan_archive(int fd, const layer::Limits& limits);

}  // namespace coracle::importer

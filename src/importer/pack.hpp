// Packs a directory tree into a tar, entries in order of their names: the same tree gives the same bytes.
#pragma once

#include "base/unique_fd.hpp"
#include "layer/tar_writer.hpp"

namespace coracle::importer {

// Regular files, directories, links, FIFOs with modes, owners, times (whole seconds), capabilities and user xattrs;
// sockets and devices are passed over. Stays on the directory's file system and follows no link. For a caller that is
// not root, its own files are packed as root's: the tree was unpacked that way.
Result<> pack_directory(const base::UniqueFd& dir, layer::TarWriter::Sink sink);

}  // namespace coracle::importer

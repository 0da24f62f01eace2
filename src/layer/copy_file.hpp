// Copies files of unpacked trees with their owner, mode, extended attributes, time and holes.
#pragma once

#include <sys/stat.h>

#include <string>

#include "coracle/error.hpp"

namespace coracle::layer {

// `path` below `root_fd` is the original, of which `status` is known; nothing on its way is a link.

// A regular file into the empty open file `to`.
Result<> copy_file(int root_fd, const std::string& path, const struct stat& status, int to);
// A symlink or a FIFO to a new `name` in `parent_fd`.
Result<> copy_special(int root_fd, const std::string& path, const struct stat& status, int parent_fd,
                      const std::string& name);
// Owner, mode, extended attributes (but those that steer overlayfs) and time onto an open file or directory.
Result<> copy_attributes(int root_fd, const std::string& path, const struct stat& status, int to);

}  // namespace coracle::layer

// Measures what a directory tree takes on its file system.
#pragma once

#include <cstdint>
#include <string>

namespace coracle::base {

// Bytes of all blocks of `name` below `dir_fd` and of what is under it; a file with several names counts once. What
// cannot be read counts as nothing, links are not followed, and the depth has no bound.
std::uint64_t tree_size_at(int dir_fd, const std::string& name);

struct TreeUse {
    std::uint64_t bytes = 0;    // as above
    std::uint64_t entries = 0;  // files, directories and links; several names of one file count once
};
TreeUse tree_use_at(int dir_fd, const std::string& name);

}  // namespace coracle::base

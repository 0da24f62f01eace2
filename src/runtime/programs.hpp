// The two helper programs that this library carries, put where they can be executed and mounted.
#pragma once

#include <filesystem>

#include "coracle/error.hpp"

namespace coracle::runtime {

struct Programs {
    std::filesystem::path keeper;      // <store>/programs/<hash>/coracle-keeper
    std::filesystem::path init_layer;  // <store>/programs/<hash>/layer, a root file system layer that holds only init
};

// Writes them on first use; afterwards a stat. Whole or not at all, also when several processes come at once.
Result<Programs> install_programs(const std::filesystem::path& store);

}  // namespace coracle::runtime

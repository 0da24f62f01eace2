// The layers below the one that is unpacked, as it may ask for them.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "coracle/error.hpp"

namespace coracle::layer {

class LowerLayers {
public:
    virtual ~LowerLayers() = default;

    struct Found {
        int root_fd = -1;  // the tree that shows it, lent
        std::string path;  // below root_fd; nothing on the way is a link
        struct stat status {};
    };
    // What the layers below show at `path`. No link is followed, neither on the way nor at its end.
    virtual Result<std::optional<Found>> find(const std::string& path) const = 0;
};

}  // namespace coracle::layer

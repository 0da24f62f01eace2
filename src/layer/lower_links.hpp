// Hard links of a layer to files of the layers below it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/units.hpp"
#include "layer/lower_layers.hpp"

namespace coracle::layer {

// A layer's tree is written without those below it, so such a link is an empty file first, and gets the content and the
// attributes of what it names at the end. As in a running container, the file is a copy of the lower one.
class LowerLinks {
public:
    struct Link {
        std::string parent;  // of the empty file
        std::string name;
        std::string target;  // below the root
        ino_t inode = 0;     // of the empty file, to tell whether it was replaced since
    };

    LowerLinks();
    bool empty() const { return links_.empty(); }
    // Makes an empty file known again: a number of an inode alone may belong to a later file.
    Result<> mark(int fd) const;
    // The target of the links that `status` is the empty file of, or null.
    const std::string* target_of(const struct stat& status) const;
    Result<> add(const std::string& parent, const std::string& name, const std::string& target, ino_t inode);
    // The first link to `target`, or null: several links to one file are one file again.
    const Link* to(const std::string& target) const;

    // Copies at most `bound` bytes. Error: corrupt where `lower`, which may be null, does not have a target.
    Result<> fill(int root_fd, const LowerLayers* lower, Bytes bound) const;

private:
    std::vector<Link> links_;
    std::map<std::string, std::size_t> first_;
    std::map<ino_t, std::string> targets_;
    time_t mark_;  // the time of the empty files, which no layer can guess
};

}  // namespace coracle::layer

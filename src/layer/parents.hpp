// Opens the directories in which entries are made, and makes those that a layer takes for granted.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::layer {

// A directory was made under `path` ("usr/share"): by an entry of its own, or because something lies in it.
using DirectoryMade = std::function<void(const std::string& path, ino_t inode)>;

class Parents {
public:
    // `root_fd` and `whiteouts` must outlive it.
    Parents(int root_fd, const Whiteouts& whiteouts, DirectoryMade made)
        : root_(root_fd), whiteouts_(whiteouts), made_(std::move(made)) {}

    // The directory `path` below the root, links of this layer resolved as a process chrooted there would; missing ones
    // are made. The descriptor is valid until the next call.
    Result<int> open(const std::string& path);

    // Makes the directory `name`, or keeps the one that is there. What else has the name gives way where `replace` is
    // set or where it is a whiteout.
    Result<> place_directory(int parent_fd, const std::string& parent, const std::string& name, bool replace);

private:
    Result<base::UniqueFd> open_or_make(const std::string& path, int links = 0);
    Result<> make(const std::string& path, int links);
    Result<> give_way(int parent_fd, const std::string& parent, const std::string& name, bool replace);

    int root_;
    const Whiteouts& whiteouts_;
    DirectoryMade made_;
    std::string open_path_;
    base::UniqueFd open_;
};

}  // namespace coracle::layer

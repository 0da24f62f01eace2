// Puts a root file system together out of bind mounts, for hosts without overlayfs.
#pragma once

#include <string>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::runtime::keeper {

// Fills the directory `target` with what a read-only overlay of `sources` (topmost first, without whiteouts) would
// show: what one source has is bound read-only, a directory that several have is made anew and filled, a link is made
// anew.
Result<> unite(const std::string& target, const std::vector<std::string>& sources);

// Makes a bind mount read-only, with the flags that it must keep in a user namespace.
Result<> make_read_only(const std::string& mount);

}  // namespace coracle::runtime::keeper

// Judges the name of a layer entry: where it lies below the root, and whether it is a whiteout.
#pragma once

#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

enum class Role {
    root,      // the root directory itself, "./"
    entry,     // something that is created
    whiteout,  // ".wh.NAME": NAME of the lower layers goes
    opaque,    // ".wh..wh..opq": all that the lower layers have in `parent` goes
    ignored,   // aufs bookkeeping that old Docker layers carry: ".wh..wh.plnk"
};

struct EntryPath {
    Role role = Role::entry;
    std::string parent;  // "usr/bin", empty for the root; no empty, "." or ".." components
    std::string name;    // the last component, of a whiteout what it hides

    std::string joined() const { return parent.empty() ? name : parent + "/" + name; }
};

// A leading '/' means the root. Error (corrupt): "..", bounds exceeded, ".wh." names that hide nothing sensible.
Result<EntryPath> parse_entry_path(std::string_view path, const Limits& limits);

// For messages: control bytes and bytes beyond ASCII as \xNN, long names cut.
std::string printable(std::string_view name);

}  // namespace coracle::layer

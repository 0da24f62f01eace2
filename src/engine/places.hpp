// Where on this host coracle keeps its store and its runs.
#pragma once

#include <filesystem>

#include "coracle/engine.hpp"
#include "coracle/error.hpp"

namespace coracle::engine {

struct Places {
    std::filesystem::path store;  // survives: images, unpacked layers, compiled filters, helper programs
    std::filesystem::path runs;   // one directory a live run; a file system in memory where there is one
};

// The options, else root's /var/lib/coracle and /run/coracle, else the user's $XDG_DATA_HOME/coracle (or
// ~/.local/share/coracle) and $XDG_RUNTIME_DIR/coracle, or a private directory in /tmp. `runs` is made; `store` is the
// store's to make. Error: denied where a directory in /tmp with our name belongs to somebody else.
Result<Places> find_places(const EngineOptions& options);

}  // namespace coracle::engine

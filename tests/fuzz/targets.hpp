// The fuzz targets: what reads a stranger's bytes. A target returns where its promises hold and aborts where not.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace coracle::fuzz {

void layer(std::string_view input);      // a blob that is unpacked below a directory
void documents(std::string_view input);  // manifest, index and configuration of an image
void words(std::string_view input);      // references, platforms, challenges and addresses
void archive(std::string_view input);    // an archive that is imported into a store
void bus(std::string_view input);        // a message of the user's service manager

// A plain assert is gone in release builds.
inline void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

}  // namespace coracle::fuzz

// Brings images from files into the store.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "content/store.hpp"
#include "image/image.hpp"
#include "snapshot/intake.hpp"

namespace coracle::importer {

struct Source {
    std::filesystem::path path;  // empty where a stream is given
    std::optional<int> stream;   // a descriptor that is read to its end, such as standard input
};

struct ImportedImage {
    image::Image image;
    std::vector<std::string> warnings;
};

// `source` is told apart by its content: an OCI image layout (directory or archive), a docker-archive of any age, a
// root file system (directory or tar); archives plain or compressed with gzip, zstd or xz. All images it holds come in,
// blobs and layers verified and unpacked. They are named by `tag`, else by the source, else by its file name. Nothing
// is named where anything failed.
Result<std::vector<ImportedImage>> import(const content::Store& store, const Source& source,
                                          const std::optional<std::string>& tag, const snapshot::IntakeOptions& intake);

}  // namespace coracle::importer

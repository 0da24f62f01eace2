// Brings images from files into the store.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "content/store.hpp"
#include "image/image.hpp"

namespace coracle::image {

// `source` is told apart by its content: an OCI image layout (directory or archive), a docker-archive of any age, a
// root file system (directory or tar); archives plain or compressed with gzip, zstd or xz. All images it holds come in,
// blobs verified (layers against their diff_ids when they are unpacked). They are named by `tag`, else by the source,
// else by its file name. Nothing is named where anything failed.
Result<std::vector<Image>> import(const content::Store& store, const std::filesystem::path& source,
                                  const std::optional<std::string>& tag);

}  // namespace coracle::image

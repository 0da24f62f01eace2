// Writes images of the store as an OCI image layout: a directory, or the same in one tar archive.
#pragma once

#include <filesystem>
#include <vector>

#include "image/image.hpp"
#include "layer/tar_writer.hpp"

namespace coracle::image {

// Images as resolve() gave them, under the names that they were asked for. Blobs are checked against their digests on
// the way. Error: corrupt where the store is damaged.
Result<> save_archive(const content::Store& store, const std::vector<Image>& images, layer::TarWriter::Sink sink);
// `target` is new or empty; after an Error nothing of ours is left in it.
Result<> save_layout(const content::Store& store, const std::vector<Image>& images,
                     const std::filesystem::path& target);

}  // namespace coracle::image

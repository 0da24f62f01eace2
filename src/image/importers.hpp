// The importers of the different forms of an image; each brings its blobs into the store and names nothing there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "content/store.hpp"
#include "image/source_files.hpp"
#include "layer/decoder.hpp"
#include "oci/descriptor.hpp"
#include "oci/image_config.hpp"
#include "oci/manifest.hpp"

namespace coracle::image {

// An image whose blobs are in the store.
struct Imported {
    std::string name;  // as the source calls it, may be empty
    oci::Descriptor manifest;
};

// index.json and blobs/: all entries of the index, of several platforms under one name this machine's.
Result<std::vector<Imported>> import_layout(const content::Store& store, const SourceFiles& files);
// manifest.json as `docker save` writes it, old form and new.
Result<std::vector<Imported>> import_docker(const content::Store& store, const SourceFiles& files);

// A tar of a root file system, gzip and zstd kept as they are. `diff_id` is its tar's.
struct RootfsTar {
    int fd;  // anywhere; lent
    layer::Compression compression;
    oci::DiffId diff_id;
};
Result<Imported> import_rootfs_tar(const content::Store& store, const RootfsTar& tar);
// A directory that holds a root file system.
Result<Imported> import_rootfs_directory(const content::Store& store, const base::UniqueFd& dir);

// What the importers share.

// Copies a file of the source into the store, unless it is there already, and checks it against the descriptor.
Result<> copy_blob(const content::Store& store, const SourceFiles& files, const std::string& name,
                   const oci::Descriptor& descriptor);
// Copies all that can be read from `source`.
Result<content::BlobInfo> store_stream(const content::Store& store, layer::ByteSource& source,
                                       std::string_view algorithm = "sha256");
// Refuses a config whose diff_ids are not as many as the layers.
Result<> check_layer_count(const oci::ImageConfig& config, std::size_t layers);
// Writes the manifest of a stored config and stored layers.
Result<oci::Descriptor> store_manifest(const content::Store& store, const oci::Manifest& manifest);
oci::Descriptor describe(std::string_view media_type, const content::BlobInfo& blob);
std::string_view layer_media_type(layer::Compression compression);

}  // namespace coracle::image

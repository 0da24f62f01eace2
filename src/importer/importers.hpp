// The importers of the different forms of an image; each brings its blobs and layers into the store and names nothing
// there.
#pragma once

#include <string>
#include <vector>

#include "content/store.hpp"
#include "importer/source_files.hpp"
#include "layer/decoder.hpp"
#include "oci/descriptor.hpp"
#include "oci/image_config.hpp"
#include "oci/manifest.hpp"
#include "snapshot/intake.hpp"

namespace coracle::importer {

// Where an import brings things to.
struct Target {
    const content::Store& store;
    const snapshot::IntakeOptions& intake;
};

// An image whose blobs and layers are in the store.
struct Imported {
    std::string name;  // as the source calls it, may be empty
    oci::Descriptor manifest;
    std::vector<std::string> warnings;  // of its layers
};

// index.json and blobs/: all entries of the index, of several platforms under one name this machine's.
Result<std::vector<Imported>> import_layout(const Target& target, const SourceFiles& files);
// manifest.json as `docker save` writes it, old form and new.
Result<std::vector<Imported>> import_docker(const Target& target, const SourceFiles& files);

// A tar of a root file system, gzip and zstd kept as they are. `fd` is a regular file, lent.
Result<Imported> import_rootfs_tar(const Target& target, int fd);
// A directory that holds a root file system.
Result<Imported> import_rootfs_directory(const Target& target, const base::UniqueFd& dir);

// What the importers share.

// Takes the layers of one image in; the result is what they asked for and did not get.
Result<std::vector<std::string>> take_layers(const Target& target, std::vector<snapshot::IncomingLayer> layers);
// Writes a manifest or config that was read from a source already.
Result<> store_document(const content::Store& store, const std::string& text, const oci::Descriptor& descriptor);
// Refuses a config whose diff_ids are not as many as the layers.
Result<> check_layer_count(const oci::ImageConfig& config, std::size_t layers);
// Writes the manifest of a stored config and stored layers.
Result<oci::Descriptor> store_manifest(const content::Store& store, const oci::Manifest& manifest);
oci::Descriptor describe(std::string_view media_type, const content::BlobInfo& blob);
std::string_view layer_media_type(layer::Compression compression);

}  // namespace coracle::importer

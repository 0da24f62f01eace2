// An image of the store: a name, a manifest, its config and layers, all present and parsed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "content/store.hpp"
#include "oci/image_config.hpp"
#include "oci/manifest.hpp"

namespace coracle::image {

struct Image {
    std::string ref;  // "busybox", "python:3.11"; the digest where it has no name
    oci::Digest manifest_digest;
    oci::Digest config_digest;
    oci::ImageConfig config;
    std::vector<oci::Descriptor> layers;  // lowest first, one for each of config.diff_ids
    std::uint64_t size = 0;               // bytes of the blobs it names
    // From resolve(): as long as a copy of this lives, nothing that the image needs is removed from the store.
    std::shared_ptr<const content::Lease> lease{};
};

// `ref`: a name ("busybox", "busybox:1.36"), the end of a longer one where only one ends so ("app" for
// "host/team/app"), "name@sha256:..." or a bare digest. Error: not_found with near names, or invalid_request.
Result<Image> resolve(const content::Store& store, std::string_view ref);

// All images of the store by name. One that is damaged is left out: resolve() tells why.
Result<std::vector<Image>> list(const content::Store& store);

// The image of a manifest in the store.
Result<Image> load(const content::Store& store, const oci::Descriptor& manifest);

// The image configuration as its author wrote it.
Result<std::string> read_config(const content::Store& store, const oci::Descriptor& manifest);

// What stands for all layers of the image together (image specification, "Layer ChainID").
Result<oci::Digest> chain_id(const oci::ImageConfig& config);

// The entry of index.json that `ref` means, as in resolve(). What it names need not be whole.
Result<oci::Descriptor> find(const content::Store& store, std::string_view ref);

}  // namespace coracle::image

// An image index: several manifests under one name, one a platform, or the table of contents of a layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oci/descriptor.hpp"

namespace coracle::oci {

struct ImageIndex {
    std::vector<Descriptor> manifests;
};

Result<ImageIndex> parse_image_index(std::string_view text);
std::string to_document(const ImageIndex& index);

// The entry that fits `wanted` best, the first of equals. Attestations, platforms "unknown" and other kinds of content
// are passed over; an entry without platform is taken where nothing else fits. Error: unsupported, listing what there
// is.
Result<Descriptor> choose(const ImageIndex& index, const Platform& wanted);

}  // namespace coracle::oci

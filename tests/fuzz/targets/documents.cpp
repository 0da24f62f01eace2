// The JSON documents of an image: what one of them is read as can be written, and is read as the same again.
#include "fuzz/targets.hpp"
#include "oci/image_config.hpp"
#include "oci/image_index.hpp"
#include "oci/manifest.hpp"

namespace coracle::fuzz {
namespace {

template <class Document>
void must_survive(const Result<Document>& read, Result<Document> (*parse)(std::string_view)) {
    if (!read) return;
    const std::string written = oci::to_document(*read);
    const Result<Document> again = parse(written);
    promise(again.has_value() && oci::to_document(*again) == written, "a document reads as it was written");
}

}  // namespace

void documents(std::string_view input) {
    const auto manifest = oci::parse_manifest(input);
    const auto index = oci::parse_image_index(input);
    promise(!manifest || !index, "no document is manifest and index at once");
    must_survive(manifest, oci::parse_manifest);
    must_survive(index, oci::parse_image_index);
    if (index) (void)oci::choose(*index, oci::this_platform());
    (void)oci::parse_image_config(input);
}

}  // namespace coracle::fuzz

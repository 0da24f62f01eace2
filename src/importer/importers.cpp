// Implements what the importers share.
#include "importer/importers.hpp"

#include "base/try.hpp"
#include "oci/media_type.hpp"

namespace coracle::importer {

Result<std::vector<std::string>> take_layers(const Target& target, std::vector<snapshot::IncomingLayer> layers) {
    if (layers.empty()) return make_error(ErrorCode::unsupported, "the image has no layers");
    const std::uint64_t most = target.intake.limits.layers;
    if (layers.size() > most) return layer::limit_exceeded("the number of layers", most, "max_layers");
    snapshot::Intake intake(target.store, target.intake);
    TRY_OK(intake.take(std::move(layers)));
    return intake.warnings();
}

Result<> store_document(const content::Store& store, const std::string& text, const oci::Descriptor& descriptor) {
    if (store.has(descriptor.digest, descriptor.size)) return {};
    TRY(content::BlobWriter writer, store.new_blob(descriptor.digest.algorithm()));
    TRY_OK(writer.write(text));
    TRY_OK(std::move(writer).commit_as(descriptor.digest, descriptor.size));
    return {};
}

Result<> check_layer_count(const oci::ImageConfig& config, std::size_t layers) {
    if (config.diff_ids.size() == layers) return {};
    return make_error(ErrorCode::corrupt, "the config names " + std::to_string(config.diff_ids.size()) +
                                              " diff_ids, the manifest " + std::to_string(layers) + " layers");
}

Result<oci::Descriptor> store_manifest(const content::Store& store, const oci::Manifest& manifest) {
    TRY(const content::BlobInfo blob, store.write_blob(oci::to_document(manifest)));
    return describe(oci::media_type::manifest, blob);
}

oci::Descriptor describe(std::string_view media_type, const content::BlobInfo& blob) {
    return oci::Descriptor{.media_type = std::string(media_type),
                           .digest = blob.digest,
                           .size = blob.size,
                           .platform = {},
                           .ref_name = {},
                           .full_name = {}};
}

std::string_view layer_media_type(layer::Compression compression) {
    switch (compression) {
        case layer::Compression::gzip: return oci::media_type::layer_gzip;
        case layer::Compression::zstd: return oci::media_type::layer_zstd;
        default: return oci::media_type::layer;
    }
}

}  // namespace coracle::importer

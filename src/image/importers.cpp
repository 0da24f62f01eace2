// Implements what the importers share.
#include "image/importers.hpp"

#include "base/try.hpp"
#include "oci/media_type.hpp"

namespace coracle::image {

namespace {

Result<content::BlobWriter> pour(const content::Store& store, layer::ByteSource& source, std::string_view algorithm) {
    TRY(content::BlobWriter writer, store.new_blob(algorithm));
    std::vector<char> buffer(std::size_t{1} << 18U);
    for (;;) {
        TRY(const std::size_t got, source.read(buffer));
        if (got == 0) return writer;
        TRY_OK(writer.write({buffer.data(), got}));
    }
}

}  // namespace

Result<> copy_blob(const content::Store& store, const SourceFiles& files, const std::string& name,
                   const oci::Descriptor& descriptor) {
    if (store.has(descriptor.digest, descriptor.size)) return {};
    TRY(const base::UniqueFd file, files.open(name));
    layer::FileSource source(file.get());
    TRY(content::BlobWriter writer, pour(store, source, descriptor.digest.algorithm()));
    TRY_OK(std::move(writer).commit_as(descriptor.digest, descriptor.size));
    return {};
}

Result<content::BlobInfo> store_stream(const content::Store& store, layer::ByteSource& source,
                                       std::string_view algorithm) {
    TRY(content::BlobWriter writer, pour(store, source, algorithm));
    return std::move(writer).commit();
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

}  // namespace coracle::image

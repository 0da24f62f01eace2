// Imports a root file system as an image of one layer.
#include <unistd.h>

#include <cerrno>

#include "base/try.hpp"
#include "image/importers.hpp"
#include "image/pack.hpp"
#include "oci/media_type.hpp"
#include "oci/platform.hpp"

namespace coracle::image {

namespace {

// No creation time: the same root file system is the same image.
std::string config_for(const oci::DiffId& diff_id) {
    const oci::Platform platform = oci::this_platform();
    const oci::Json document{{"architecture", platform.architecture},
                             {"os", platform.os},
                             {"config", oci::Json::object()},
                             {"rootfs", {{"type", "layers"}, {"diff_ids", {diff_id.digest.str()}}}}};
    return document.dump();
}

Result<Imported> as_image(const content::Store& store, std::string_view media_type, const content::BlobInfo& layer,
                          const oci::DiffId& diff_id) {
    TRY(const content::BlobInfo config, store.write_blob(config_for(diff_id)));
    TRY(oci::Descriptor manifest,
        store_manifest(store, {describe(oci::media_type::config, config), {describe(media_type, layer)}}));
    return Imported{"", std::move(manifest)};
}

}  // namespace

Result<Imported> import_rootfs_tar(const content::Store& store, const RootfsTar& tar) {
    if (::lseek(tar.fd, 0, SEEK_SET) != 0) return os_error("read the archive again", errno);
    layer::FileSource raw(tar.fd);
    if (tar.compression != layer::Compression::xz) {
        TRY(const content::BlobInfo layer, store_stream(store, raw));
        return as_image(store, layer_media_type(tar.compression), layer, tar.diff_id);
    }
    // OCI has no media type for xz: such a layer is kept plain, so that other tools can read the store.
    TRY(const layer::Decoder decoder, layer::make_decoder(raw));
    TRY(const content::BlobInfo layer, store_stream(store, *decoder.source));
    return as_image(store, oci::media_type::layer, layer, tar.diff_id);
}

Result<Imported> import_rootfs_directory(const content::Store& store, const base::UniqueFd& dir) {
    TRY(content::BlobWriter writer, store.new_blob());
    TRY_OK(pack_directory(dir, [&writer](std::string_view bytes) { return writer.write(bytes); }));
    TRY(const content::BlobInfo layer, std::move(writer).commit());
    return as_image(store, oci::media_type::layer, layer, oci::DiffId{layer.digest});
}

}  // namespace coracle::image

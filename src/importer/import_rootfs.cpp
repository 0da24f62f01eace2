// Imports a root file system as an image of one layer.
#include <sys/stat.h>

#include <cerrno>

#include "base/try.hpp"
#include "importer/file_range.hpp"
#include "importer/importers.hpp"
#include "importer/pack.hpp"
#include "oci/media_type.hpp"
#include "oci/platform.hpp"

namespace coracle::importer {

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

Result<Imported> as_image(const content::Store& store, const oci::Descriptor& layer, const oci::DiffId& diff_id,
                          std::vector<std::string> warnings) {
    TRY(const content::BlobInfo config, store.write_blob(config_for(diff_id)));
    TRY(oci::Descriptor manifest, store_manifest(store, {describe(oci::media_type::config, config), {layer}}));
    return Imported{"", std::move(manifest), std::move(warnings)};
}

// The tar inside an xz file. OCI has no media type for xz: such a layer is kept plain, so that other tools can read the
// store.
class Unwrapped final : public layer::ByteSource {
public:
    static Result<std::unique_ptr<layer::ByteSource>> create(int fd, std::uint64_t size) {
        auto unwrapped = std::make_unique<Unwrapped>(fd, size);
        TRY(unwrapped->decoder_, layer::make_decoder(unwrapped->raw_));
        return std::unique_ptr<layer::ByteSource>(std::move(unwrapped));
    }
    Unwrapped(int fd, std::uint64_t size) : raw_(fd, 0, size) {}
    Result<std::size_t> read(std::span<char> buffer) override { return decoder_.source->read(buffer); }

private:
    FileRange raw_;
    layer::Decoder decoder_;
};

Result<layer::Compression> compression_of(int fd, std::uint64_t size) {
    FileRange head(fd, 0, size);
    TRY(const layer::Decoder decoder, layer::make_decoder(head));
    return decoder.compression;
}

}  // namespace

Result<Imported> import_rootfs_tar(const Target& target, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error("stat the archive", errno);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    TRY(const layer::Compression compression, compression_of(fd, size));
    const auto open = [&]() -> Result<std::unique_ptr<layer::ByteSource>> {
        if (compression == layer::Compression::xz) return Unwrapped::create(fd, size);
        return std::unique_ptr<layer::ByteSource>(std::make_unique<FileRange>(fd, 0, size));
    };
    snapshot::Intake intake(target.store, target.intake);
    TRY(const snapshot::TakenLayer taken, intake.take_unnamed(open, size));
    return as_image(target.store, describe(layer_media_type(compression), taken.blob), taken.diff_id,
                    intake.warnings());
}

Result<Imported> import_rootfs_directory(const Target& target, const base::UniqueFd& dir) {
    TRY(content::BlobWriter writer, target.store.new_blob());
    TRY_OK(pack_directory(dir, [&writer](std::string_view bytes) { return writer.write(bytes); }));
    TRY(const content::BlobInfo blob, std::move(writer).commit());
    const oci::Descriptor layer = describe(oci::media_type::layer, blob);
    const oci::DiffId diff_id{blob.digest};
    TRY(auto warnings, take_layers(target, {{.descriptor = layer, .diff_id = diff_id, .open = {}}}));
    return as_image(target.store, layer, diff_id, std::move(warnings));
}

}  // namespace coracle::importer

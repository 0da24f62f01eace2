// Implements the look through an archive.
#include "image/archive_scan.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/try.hpp"
#include "layer/bounded_source.hpp"
#include "layer/tar_reader.hpp"

namespace coracle::image {

namespace {

// The names at the top of an archive that tell its kind.
struct Signs {
    bool manifest = false;
    bool index = false;
    bool layout = false;
    bool blobs = false;
    bool old_layers = false;
    bool anything = false;

    void look_at(std::string_view path) {
        anything = true;
        while (path.starts_with("./")) path.remove_prefix(2);
        manifest |= path == "manifest.json";
        index |= path == "index.json";
        layout |= path == "oci-layout";
        blobs |= path.starts_with("blobs/");
        old_layers |= path == "repositories" || (path.ends_with("/layer.tar") && path.find('/') == path.rfind('/'));
    }
    bool is_image() const { return manifest || layout || (index && blobs); }
};

Result<Signs> read_names(layer::ByteSource& tar, const layer::Limits& limits) {
    TRY(layer::TarReader reader, layer::TarReader::open(tar, limits));
    Signs signs;
    for (std::uint64_t entries = 0; !signs.is_image(); ++entries) {
        TRY(const auto entry, reader.next());
        if (!entry) break;
        if (entries > limits.entries) {
            return make_error(ErrorCode::corrupt, "the entries exceed the limit of " + std::to_string(limits.entries));
        }
        signs.look_at(entry->path);
    }
    return signs;
}

}  // namespace

Result<ArchiveScan> scan_archive(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error("stat the archive", errno);
    const layer::Limits limits;
    layer::FileSource raw(fd);
    TRY(const layer::Decoder decoder, layer::make_decoder(raw));
    layer::BoundedSource bounded(*decoder.source,
                                 layer::longest_stream(static_cast<std::uint64_t>(status.st_size), limits));
    TRY(content::Hasher hasher, content::Hasher::create("sha256"));
    layer::HashingSource tar(bounded, std::move(hasher));
    auto signs = read_names(tar, limits);
    if (!signs) {
        return std::move(signs).error().with_hint(
            "coracle imports OCI layouts and archives, docker save archives, and root file systems as directory or "
            "tar");
    }
    // A file of zeros is a well-formed tar of nothing.
    if (!signs->anything) return make_error(ErrorCode::corrupt, "the archive holds no files");
    if (signs->is_image()) return ArchiveScan{ArchiveKind::image, decoder.compression, {}};
    if (signs->old_layers) {
        return make_error(ErrorCode::unsupported, "a docker save archive without manifest.json",
                          "Docker before 1.10 wrote it: load it and save it again with a current one");
    }
    TRY_OK(layer::drain(tar, limits.stream.count, "tar"));
    TRY(oci::Digest digest, std::move(tar).finish());
    return ArchiveScan{ArchiveKind::rootfs, decoder.compression, oci::DiffId{std::move(digest)}};
}

}  // namespace coracle::image

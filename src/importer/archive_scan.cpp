// Implements the look through an archive.
#include "importer/archive_scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/try.hpp"
#include "importer/file_range.hpp"
#include "layer/bounded_source.hpp"
#include "layer/decoder.hpp"
#include "layer/tar_reader.hpp"

namespace coracle::importer {

namespace {

// The names at the top of an archive that tell its kind.
struct Signs {
    bool manifest = false;
    bool index = false;
    bool layout = false;
    bool blobs = false;
    bool old_layers = false;
    bool rootfs = false;
    bool anything = false;

    void look_at(std::string_view path) {
        anything = true;
        while (path.starts_with("./")) path.remove_prefix(2);
        while (path.starts_with('/')) path.remove_prefix(1);
        // Directories that every root file system has and no archive of images.
        constexpr std::array<std::string_view, 12> top{"bin",  "boot", "dev",  "etc", "home", "lib",
                                                       "proc", "root", "sbin", "sys", "usr",  "var"};
        rootfs |= std::find(top.begin(), top.end(), path.substr(0, path.find('/'))) != top.end();
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
    for (std::uint64_t entries = 0; !signs.is_image() && !signs.rootfs; ++entries) {
        TRY(const auto entry, reader.next());
        if (!entry) break;
        if (entries > limits.entries) {
            return layer::limit_exceeded("the number of entries", limits.entries, "max_entries");
        }
        signs.look_at(entry->path);
    }
    return signs;
}

}  // namespace

Result<ArchiveKind> scan_archive(int fd, const layer::Limits& limits) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error("stat the archive", errno);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    FileRange raw(fd, 0, size);
    TRY(const layer::Decoder decoder, layer::make_decoder(raw));
    FileRange again(fd, 0, size);  // a plain archive is skipped through
    const bool plain = decoder.compression == layer::Compression::none;
    layer::BoundedSource bounded(plain ? static_cast<layer::ByteSource&>(again) : *decoder.source, size, limits);
    auto signs = read_names(bounded, limits);
    if (!signs) {
        return std::move(signs).error().with_hint(
            "coracle imports OCI layouts and archives, docker save archives, and root file systems as directory or "
            "tar");
    }
    if (signs->rootfs) return ArchiveKind::rootfs;
    // A file of zeros is a well-formed tar of nothing.
    if (!signs->anything) return make_error(ErrorCode::corrupt, "the archive holds no files");
    if (signs->is_image()) return ArchiveKind::image;
    if (!signs->old_layers) return ArchiveKind::rootfs;
    return make_error(ErrorCode::unsupported, "a docker save archive without manifest.json",
                      "Docker before 1.10 wrote it: load it and save it again with a current one");
}

}  // namespace coracle::importer

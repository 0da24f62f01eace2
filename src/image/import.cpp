// Implements the import: what is it, bring it in, name it.
#include "image/import.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "image/archive_scan.hpp"
#include "image/importers.hpp"
#include "oci/reference.hpp"

namespace coracle::image {

namespace {

using Images = std::vector<Imported>;

Result<Images> one(Result<Imported> image) {
    if (!image) return std::move(image).error();
    Images images;
    images.push_back(std::move(image).value());
    return images;
}

Result<Images> import_directory(const content::Store& store, base::UniqueFd dir) {
    const int fd = dir.get();
    const bool docker = base::exists_at(fd, "manifest.json");
    const bool layout =
        base::exists_at(fd, "oci-layout") || (base::exists_at(fd, "index.json") && base::exists_at(fd, "blobs"));
    if (!docker && !layout) return one(import_rootfs_directory(store, dir));
    const auto files = directory_files(std::move(dir));
    return docker ? import_docker(store, *files) : import_layout(store, *files);
}

Result<Images> import_archive(const content::Store& store, const base::UniqueFd& file) {
    TRY(const ArchiveScan scan, scan_archive(file.get()));
    if (scan.kind == ArchiveKind::rootfs) {
        return one(import_rootfs_tar(store, RootfsTar{file.get(), scan.compression, *scan.diff_id}));
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return os_error("read the archive again", errno);
    TRY(const auto files, archive_files(store, file.get()));
    return files->has("manifest.json") ? import_docker(store, *files) : import_layout(store, *files);
}

Result<Images> bring_in(const content::Store& store, const std::filesystem::path& source) {
    // O_NONBLOCK: a FIFO or device must not hold the import up.
    TRY(base::UniqueFd file, base::open_file_at(AT_FDCWD, source.string(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return os_error("stat", errno);
    if (S_ISDIR(status.st_mode)) return import_directory(store, std::move(file));
    if (S_ISREG(status.st_mode)) return import_archive(store, file);
    return make_error(ErrorCode::invalid_request, "neither a file nor a directory");
}

// "images/web.tar.gz" -> "web"; "layouts/web/" -> "web".
std::string stem_of(const std::filesystem::path& source) {
    std::string name = std::filesystem::absolute(source).lexically_normal().filename().string();
    if (name.empty()) name = std::filesystem::absolute(source).lexically_normal().parent_path().filename().string();
    for (const std::string_view suffix : {".gz", ".tgz", ".zst", ".xz", ".tar"}) {
        if (name.size() > suffix.size() && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    return name;
}

// Some tools write only a tag as the name of an entry; what is called "latest" is named by its file.
Result<std::string> name_for(const Imported& image, const std::string& stem) {
    if (!image.name.empty() && image.name != "latest") {
        if (const auto reference = oci::parse_reference(image.name)) return reference.value().str();
        return oci::reference_from(image.name).str();
    }
    return oci::reference_from(stem).str();
}

Result<std::vector<std::string>> names_for(const Images& images, const std::filesystem::path& source,
                                           const std::optional<std::string>& tag) {
    std::vector<std::string> names;
    const std::string stem = stem_of(source);
    for (const Imported& image : images) {
        TRY(std::string name, name_for(image, stem));
        names.push_back(std::move(name));
    }
    if (!tag) return names;
    TRY(const oci::Reference reference, oci::parse_reference(*tag));
    if (reference.digest)
        return make_error(ErrorCode::invalid_request, "a tag cannot be a digest", "write NAME or NAME:TAG");
    for (const Imported& image : images) {
        if (image.manifest.digest == images.front().manifest.digest) continue;
        return make_error(ErrorCode::invalid_request, "the source holds several images, one tag cannot name them all",
                          "leave --tag away: they come in under their own names");
    }
    return std::vector<std::string>{reference.str()};
}

Result<std::vector<Image>> import_all(const content::Store& store, const std::filesystem::path& source,
                                      const std::optional<std::string>& tag) {
    // Until the images have their names nothing else keeps what came in from being removed.
    TRY(const auto intake, store.begin_intake());
    TRY(const Images found, bring_in(store, source));
    TRY(const auto names, names_for(found, source, tag));
    std::vector<Image> images;
    for (std::size_t at = 0; at < names.size(); ++at) {
        oci::Descriptor manifest = found[at].manifest;
        manifest.ref_name = names[at];
        TRY(Image image, load(store, manifest));
        TRY_OK(store.tag(names[at], std::move(manifest)));
        images.push_back(std::move(image));
    }
    return images;
}

}  // namespace

Result<std::vector<Image>> import(const content::Store& store, const std::filesystem::path& source,
                                  const std::optional<std::string>& tag) {
    return import_all(store, source, tag).within("import '" + source.string() + "'").at(Stage::resolve);
}

}  // namespace coracle::image

// Implements the import: what is it, bring it in, name it.
#include "importer/import.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "importer/archive_scan.hpp"
#include "importer/importers.hpp"
#include "oci/reference.hpp"

namespace coracle::importer {

namespace {

using Images = std::vector<Imported>;

Result<Images> one(Result<Imported> image) {
    if (!image) return std::move(image).error();
    Images images;
    images.push_back(std::move(image).value());
    return images;
}

Result<Images> import_directory(const Target& target, base::UniqueFd dir) {
    const int fd = dir.get();
    const bool docker = base::exists_at(fd, "manifest.json");
    const bool layout =
        base::exists_at(fd, "oci-layout") || (base::exists_at(fd, "index.json") && base::exists_at(fd, "blobs"));
    if (!docker && !layout) return one(import_rootfs_directory(target, dir));
    const auto files = directory_files(std::move(dir));
    return docker ? import_docker(target, *files) : import_layout(target, *files);
}

Result<Images> import_archive(const Target& target, int fd) {
    TRY(const ArchiveKind kind, scan_archive(fd, target.intake.limits));
    if (kind == ArchiveKind::rootfs) return one(import_rootfs_tar(target, fd));
    TRY(const auto files, archive_files(target.store, fd, target.intake.limits));
    return files->has("manifest.json") ? import_docker(target, *files) : import_layout(target, *files);
}

// What comes through a pipe is kept in a scratch file: archives of images are not read from front to back.
Result<Images> import_stream(const Target& target, int stream) {
    TRY(const content::Scratch scratch, target.store.new_scratch());
    TRY(const base::UniqueFd file,
        base::open_file_at(scratch.dir().get(), "stream", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    std::vector<char> buffer(std::size_t{1} << 17U);
    layer::FileSource source(stream);
    const std::uint64_t bound = target.intake.limits.stream.count;
    for (std::uint64_t total = 0;;) {
        TRY(const std::size_t got, source.read(buffer));
        if (got == 0) break;
        total += got;
        if (total > bound) {
            return make_error(ErrorCode::corrupt, "it exceeds the limit of " + to_string(target.intake.limits.stream));
        }
        TRY_OK(base::write_all(file.get(), {buffer.data(), got}, "scratch file"));
    }
    return import_archive(target, file.get());
}

Result<Images> import_open(const Target& target, base::UniqueFd file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return os_error("stat", errno);
    if (S_ISDIR(status.st_mode)) return import_directory(target, std::move(file));
    if (S_ISREG(status.st_mode)) return import_archive(target, file.get());
    return make_error(ErrorCode::invalid_request, "neither a file nor a directory");
}

Result<Images> bring_in(const Target& target, const Source& source) {
    if (source.stream) return import_stream(target, *source.stream);
    // O_NONBLOCK: a FIFO or device must not hold the import up.
    TRY(base::UniqueFd file, base::open_file_at(AT_FDCWD, source.path.string(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
    return import_open(target, std::move(file));
}

// "images/web.tar.gz" -> "web"; "layouts/web/" -> "web"; standard input is "stdin".
std::string stem_of(const std::filesystem::path& source) {
    if (source.empty()) return "stdin";
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

Result<std::vector<ImportedImage>> import_all(const Target& target, const Source& source,
                                              const std::optional<std::string>& tag) {
    // Until the images have their names nothing else keeps what came in from being removed.
    TRY(const auto intake, target.store.begin_intake());
    TRY(const Images found, bring_in(target, source));
    TRY(const auto names, names_for(found, source.path, tag));
    std::vector<ImportedImage> images;
    for (std::size_t at = 0; at < names.size(); ++at) {
        oci::Descriptor manifest = found[at].manifest;
        manifest.ref_name = names[at];
        TRY(image::Image image, image::load(target.store, manifest));
        TRY_OK(target.store.tag(names[at], std::move(manifest)));
        images.push_back({std::move(image), found[at].warnings});
    }
    return images;
}

}  // namespace

Result<std::vector<ImportedImage>> import(const content::Store& store, const Source& source,
                                          const std::optional<std::string>& tag,
                                          const snapshot::IntakeOptions& intake) {
    const std::string name = source.stream ? "standard input" : "'" + source.path.string() + "'";
    auto images = import_all({store, intake}, source, tag).within("import " + name).at(Stage::resolve);
    if (!images) return store.explained(std::move(images).error());
    return images;
}

}  // namespace coracle::importer

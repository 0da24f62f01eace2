// Implements the saving: the same files in the same order, into a tar or below a directory.
#include "image/save.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "layer/byte_source.hpp"
#include "oci/image_index.hpp"
#include "oci/media_type.hpp"
#include "oci/reference.hpp"

namespace coracle::image {

namespace {

using Write = std::function<Result<>(std::string_view)>;
// Takes one file: `content` is called once and writes exactly `size` bytes.
using PutFile = std::function<Result<>(const std::string& path, std::uint64_t size,
                                       const std::function<Result<>(const Write&)>& content)>;

constexpr std::string_view marker = "{\"imageLayoutVersion\": \"1.0.0\"}\n";

Result<> put_text(const PutFile& put, const std::string& path, std::string_view text) {
    return put(path, text.size(), [&](const Write& write) { return write(text); });
}

Result<> copy_checked(int blob, const oci::Descriptor& descriptor, const Write& write) {
    layer::FileSource file(blob);
    TRY(content::Hasher hasher, content::Hasher::create(descriptor.digest.algorithm()));
    layer::HashingSource source(file, std::move(hasher));
    std::vector<char> buffer(std::size_t{1} << 17U);
    while (true) {
        TRY(const std::size_t got, source.read(buffer));
        if (got == 0) break;
        TRY_OK(write({buffer.data(), got}));
    }
    TRY(const oci::Digest found, std::move(source).finish());
    if (found == descriptor.digest) return {};
    return make_error(ErrorCode::corrupt,
                      "blob " + descriptor.digest.short_hex() + ": its content has the digest " + found.str(),
                      "the store is damaged: import the image again");
}

Result<> put_blob(const content::Store& store, const PutFile& put, const oci::Descriptor& descriptor) {
    TRY(const base::UniqueFd blob, store.open_blob(descriptor.digest, descriptor.size));
    return put(content::paths::blob(descriptor.digest), descriptor.size,
               [&](const Write& write) { return copy_checked(blob.get(), descriptor, write); });
}

// The manifest, its config and its layers, none twice.
Result<> put_image(const content::Store& store, const PutFile& put, const oci::Descriptor& entry,
                   std::set<oci::Digest>& done) {
    TRY(const std::string document, store.read_blob(entry.digest, entry.size));
    TRY(const oci::Manifest manifest, oci::parse_manifest(document));
    std::vector<oci::Descriptor> blobs{entry, manifest.config};
    blobs.insert(blobs.end(), manifest.layers.begin(), manifest.layers.end());
    for (const oci::Descriptor& blob : blobs) {
        if (done.insert(blob.digest).second) TRY_OK(put_blob(store, put, blob));
    }
    return {};
}

Result<std::vector<oci::Descriptor>> entries_of(const content::Store& store, const std::vector<Image>& images) {
    std::vector<oci::Descriptor> entries;
    for (const Image& image : images) {
        TRY(oci::Descriptor entry, find(store, image.ref));
        if (entry.digest != image.manifest_digest) {
            return make_error(ErrorCode::unavailable, "image '" + image.ref + "' was replaced meanwhile", "try again");
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

Result<> put_all(const content::Store& store, const std::vector<Image>& images, const PutFile& put) {
    TRY(auto entries, entries_of(store, images));
    TRY_OK(put_text(put, content::paths::layout_marker, marker));
    TRY_OK(put_text(put, content::paths::index, oci::to_document(oci::ImageIndex{entries})));
    std::set<oci::Digest> done;
    for (std::size_t at = 0; at < entries.size(); ++at) {
        TRY_OK(put_image(store, put, entries[at], done).within("image '" + images[at].ref + "'"));
    }
    return {};
}

layer::Entry file_entry(const std::string& path, std::uint64_t size) {
    return {.path = path,
            .kind = layer::EntryKind::file,
            .link = {},
            .mode = 0644,
            .uid = 0,
            .gid = 0,
            .mtime = {},
            .size = size,
            .xattrs = {}};
}

// The folders on the way to `path` that are not in the tar yet. Without entries of their own skopeo gives them to root,
// which an ordinary user may not.
Result<> put_folders(layer::TarWriter& tar, const std::string& path, std::set<std::string>& done) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        layer::Entry entry = file_entry(path.substr(0, slash), 0);
        if (!done.insert(entry.path).second) continue;
        entry.kind = layer::EntryKind::directory;
        entry.mode = 0755;
        TRY_OK(tar.begin(entry));
        TRY_OK(tar.end_entry());
    }
    return {};
}

Result<> fill(const content::Store& store, const std::vector<Image>& images, const std::filesystem::path& target) {
    const PutFile put = [&](const std::string& path, std::uint64_t, const auto& content) -> Result<> {
        const std::filesystem::path file = target / path;
        TRY_OK(base::make_dirs(file.parent_path()));
        TRY(const base::UniqueFd fd, base::open_file_at(AT_FDCWD, file.string(), O_WRONLY | O_CREAT | O_EXCL, 0644));
        return content([&](std::string_view bytes) { return base::write_all(fd.get(), bytes, path); });
    };
    return put_all(store, images, put);
}

}  // namespace

Result<> save_archive(const content::Store& store, const std::vector<Image>& images, layer::TarWriter::Sink sink) {
    layer::TarWriter tar(std::move(sink));
    std::set<std::string> folders;
    const PutFile put = [&](const std::string& path, std::uint64_t size, const auto& content) -> Result<> {
        TRY_OK(put_folders(tar, path, folders));
        TRY_OK(tar.begin(file_entry(path, size)));
        TRY_OK(content([&](std::string_view bytes) { return tar.write(bytes); }));
        return tar.end_entry();
    };
    TRY_OK(put_all(store, images, put));
    return tar.finish();
}

Result<> save_layout(const content::Store& store, const std::vector<Image>& images,
                     const std::filesystem::path& target) {
    TRY_OK(base::make_dirs(target));
    TRY(const base::UniqueFd folder, base::open_dir(target));
    TRY(const auto names, base::list_dir(folder.get()));
    if (!names.empty()) {
        return make_error(ErrorCode::invalid_request, "'" + target.string() + "' is not empty",
                          "give a new or an empty directory");
    }
    auto filled = fill(store, images, target);
    if (!filled) {
        for (const auto& name : {content::paths::layout_marker, content::paths::index, content::paths::blobs}) {
            (void)base::remove_tree_at(folder.get(), name);
        }
    }
    return filled;
}

}  // namespace coracle::image

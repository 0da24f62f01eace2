// Imports an OCI image layout.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "image/importers.hpp"
#include "oci/image_index.hpp"
#include "oci/media_type.hpp"
#include "oci/platform.hpp"

namespace coracle::image {

namespace {

constexpr int deepest_index = 4;

std::string blob_name(const oci::Digest& digest) {
    return "blobs/" + std::string(digest.algorithm()) + "/" + std::string(digest.hex());
}

std::string name_of(const oci::Descriptor& entry) { return entry.full_name.empty() ? entry.ref_name : entry.full_name; }

class LayoutImport {
public:
    LayoutImport(const content::Store& store, const SourceFiles& files) : store_(store), files_(files) {}

    // Follows indexes down to the manifest for this machine, and brings its blobs in.
    Result<oci::Descriptor> bring_in(const oci::Descriptor& entry, int depth = 0) const {
        switch (oci::media_kind(entry.media_type)) {
            case oci::MediaKind::manifest: return bring_in_manifest(entry).within("image " + entry.digest.short_hex());
            case oci::MediaKind::index: return descend(entry, depth);
            default:
                return make_error(ErrorCode::unsupported, "entry " + entry.digest.short_hex() + ": media type '" +
                                                              entry.media_type + "' is no image");
        }
    }

private:
    Result<oci::Descriptor> descend(const oci::Descriptor& entry, int depth) const {
        if (depth >= deepest_index) return make_error(ErrorCode::corrupt, "indexes are nested deeper than 4 levels");
        TRY(const std::string text, read_blob(entry).within("index " + entry.digest.short_hex()));
        TRY(const oci::ImageIndex index, oci::parse_image_index(text));
        TRY(const oci::Descriptor chosen, oci::choose(index, oci::this_platform()));
        return bring_in(chosen, depth + 1);
    }

    Result<oci::Descriptor> bring_in_manifest(const oci::Descriptor& entry) const {
        TRY(const std::string text, read_blob(entry));
        TRY(const oci::Manifest manifest, oci::parse_manifest(text));
        TRY(const std::string config_text, read_blob(manifest.config).within("config"));
        TRY(const oci::ImageConfig config, oci::parse_image_config(config_text));
        TRY_OK(check_layer_count(config, manifest.layers.size()));
        for (const oci::Descriptor& layer : manifest.layers) {
            TRY_OK(
                copy_blob(store_, files_, blob_name(layer.digest), layer).within("layer " + layer.digest.short_hex()));
        }
        TRY_OK(copy_blob(store_, files_, blob_name(manifest.config.digest), manifest.config));
        TRY_OK(copy_blob(store_, files_, blob_name(entry.digest), entry));
        return entry;
    }

    Result<std::string> read_blob(const oci::Descriptor& descriptor) const {
        TRY(std::string text, files_.read_document(blob_name(descriptor.digest)));
        if (text.size() != descriptor.size) {
            return make_error(ErrorCode::corrupt, "the blob has " + std::to_string(text.size()) +
                                                      " bytes, its descriptor says " + std::to_string(descriptor.size));
        }
        TRY(const oci::Digest found, content::digest_of(text, descriptor.digest.algorithm()));
        if (found == descriptor.digest) return text;
        return make_error(ErrorCode::corrupt,
                          "the blob's content has the digest " + found.str() + ", not " + descriptor.digest.str());
    }

    const content::Store& store_;
    const SourceFiles& files_;
};

Result<> check_marker(const SourceFiles& files) {
    // Upstream's own hello-world layout lacks the file, and other tools read it: absent is fine, wrong is not.
    if (!files.has("oci-layout")) return {};
    TRY(const std::string text, files.read_document("oci-layout"));
    TRY(const oci::Json document, oci::parse_json(text, "oci-layout"));
    TRY(const oci::Fields fields, oci::Fields::of(document, "oci-layout"));
    TRY(const std::string version, fields.required_string("imageLayoutVersion"));
    if (version == "1.0.0") return {};
    return make_error(ErrorCode::unsupported, "oci-layout: version '" + version.substr(0, 40) + "' is not 1.0.0");
}

// Entries of one name are one image for several platforms.
Result<oci::Descriptor> pick(const oci::ImageIndex& same_name) {
    if (same_name.manifests.size() == 1) return same_name.manifests.front();
    return oci::choose(same_name, oci::this_platform());
}

std::map<std::string, oci::ImageIndex> by_name(const oci::ImageIndex& index) {
    std::map<std::string, oci::ImageIndex> groups;
    for (const oci::Descriptor& entry : index.manifests) groups[name_of(entry)].manifests.push_back(entry);
    return groups;
}

}  // namespace

Result<std::vector<Imported>> import_layout(const content::Store& store, const SourceFiles& files) {
    TRY_OK(check_marker(files));
    TRY(const std::string text, files.read_document("index.json"));
    TRY(const oci::ImageIndex index, oci::parse_image_index(text));
    const LayoutImport import(store, files);
    std::vector<Imported> images;
    std::optional<Error> passed_over;
    for (const auto& [name, entries] : by_name(index)) {
        const auto take = [&import](const oci::ImageIndex& same_name) -> Result<oci::Descriptor> {
            TRY(const oci::Descriptor entry, pick(same_name));
            return import.bring_in(entry);
        };
        auto manifest = take(entries);
        if (manifest) {
            images.push_back(Imported{name, std::move(manifest).value()});
        } else if (manifest.error().code == ErrorCode::unsupported) {
            passed_over = std::move(manifest).error();  // an artifact, or another machine's image
        } else {
            return std::move(manifest).error();
        }
    }
    if (!images.empty()) return images;
    if (passed_over) return std::move(*passed_over);
    return make_error(ErrorCode::corrupt, "index.json lists no image");
}

}  // namespace coracle::image

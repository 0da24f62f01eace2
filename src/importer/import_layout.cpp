// Imports an OCI image layout.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "importer/importers.hpp"
#include "oci/image_index.hpp"
#include "oci/media_type.hpp"
#include "oci/platform.hpp"

namespace coracle::importer {

namespace {

std::string blob_name(const oci::Digest& digest) {
    return "blobs/" + std::string(digest.algorithm()) + "/" + std::string(digest.hex());
}

std::string name_of(const oci::Descriptor& entry) { return entry.full_name.empty() ? entry.ref_name : entry.full_name; }

class LayoutImport {
public:
    LayoutImport(const Target& target, const SourceFiles& files) : target_(target), files_(files) {}

    // Follows indexes down to the manifest for this machine, and brings its blobs in.
    Result<Imported> bring_in(const oci::Descriptor& entry, int depth = 0) const {
        switch (oci::media_kind(entry.media_type)) {
            case oci::MediaKind::manifest: return bring_in_manifest(entry).within("image " + entry.digest.short_hex());
            case oci::MediaKind::index: return descend(entry, depth);
            default:
                return make_error(ErrorCode::unsupported, "entry " + entry.digest.short_hex() + ": media type '" +
                                                              entry.media_type + "' is no image");
        }
    }

private:
    Result<Imported> descend(const oci::Descriptor& entry, int depth) const {
        const std::uint64_t deepest = target_.intake.limits.index_depth;
        if (static_cast<std::uint64_t>(depth) >= deepest) {
            return layer::limit_exceeded("the nesting of indexes", deepest, "max_index_depth");
        }
        TRY(const std::string text, read_blob(entry).within("index " + entry.digest.short_hex()));
        TRY(const oci::ImageIndex index, oci::parse_image_index(text));
        TRY(const oci::Descriptor chosen, oci::choose(index, oci::this_platform()));
        return bring_in(chosen, depth + 1);
    }

    Result<Imported> bring_in_manifest(const oci::Descriptor& entry) const {
        TRY(const std::string text, read_blob(entry));
        TRY(const oci::Manifest manifest, oci::parse_manifest(text));
        TRY(const std::string config_text, read_blob(manifest.config).within("config"));
        TRY(const oci::ImageConfig config, oci::parse_image_config(config_text));
        TRY_OK(check_layer_count(config, manifest.layers.size()));
        std::vector<snapshot::IncomingLayer> layers;
        for (std::size_t at = 0; at < manifest.layers.size(); ++at) {
            layers.push_back({.descriptor = manifest.layers[at],
                              .diff_id = config.diff_ids[at],
                              .open = opener(manifest.layers[at])});
        }
        TRY(auto warnings, take_layers(target_, std::move(layers)));
        TRY_OK(store_document(target_.store, config_text, manifest.config));
        TRY_OK(store_document(target_.store, text, entry));
        return Imported{"", entry, std::move(warnings)};
    }

    snapshot::OpenSource opener(const oci::Descriptor& layer) const {
        return [this, layer]() -> Result<std::unique_ptr<layer::ByteSource>> {
            TRY(SourceFile opened, files_.open(blob_name(layer.digest)));
            if (opened.size == layer.size) return std::move(opened.bytes);
            return make_error(ErrorCode::corrupt, "the blob has " + std::to_string(opened.size) +
                                                      " bytes, its descriptor says " + std::to_string(layer.size));
        };
    }

    Result<std::string> read_blob(const oci::Descriptor& descriptor) const {
        TRY(std::string text, files_.read_document(blob_name(descriptor.digest), target_.intake.limits.document));
        if (text.size() != descriptor.size) {
            return make_error(ErrorCode::corrupt, "the blob has " + std::to_string(text.size()) +
                                                      " bytes, its descriptor says " + std::to_string(descriptor.size));
        }
        TRY(const oci::Digest found, content::digest_of(text, descriptor.digest.algorithm()));
        if (found == descriptor.digest) return text;
        return make_error(ErrorCode::corrupt,
                          "the blob's content has the digest " + found.str() + ", not " + descriptor.digest.str());
    }

    const Target& target_;
    const SourceFiles& files_;
};

Result<> check_marker(const SourceFiles& files) {
    // Upstream's own hello-world layout lacks the file, and other tools read it: absent is fine, wrong is not.
    if (!files.has("oci-layout")) return {};
    TRY(const std::string text, files.read_document("oci-layout", oci::max_document));
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

Result<std::vector<Imported>> import_layout(const Target& target, const SourceFiles& files) {
    TRY_OK(check_marker(files));
    TRY(const std::string text, files.read_document("index.json", target.intake.limits.document));
    TRY(const oci::ImageIndex index, oci::parse_image_index(text));
    const LayoutImport import(target, files);
    std::vector<Imported> images;
    std::optional<Error> passed_over;
    for (const auto& [name, entries] : by_name(index)) {
        const auto take = [&import](const oci::ImageIndex& same_name) -> Result<Imported> {
            TRY(const oci::Descriptor entry, pick(same_name));
            return import.bring_in(entry);
        };
        auto image = take(entries);
        if (image) {
            images.push_back(std::move(image).value());
            images.back().name = name;
        } else if (image.error().code == ErrorCode::unsupported) {
            passed_over = std::move(image).error();  // an artifact, or another machine's image
        } else {
            return std::move(image).error();
        }
    }
    if (!images.empty()) return images;
    if (passed_over) return std::move(*passed_over);
    return make_error(ErrorCode::corrupt, "index.json lists no image");
}

}  // namespace coracle::importer

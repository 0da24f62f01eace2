// Imports a docker-archive: manifest.json names a config, layers and tags for each image.
#include <map>

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "importer/importers.hpp"
#include "oci/media_type.hpp"

namespace coracle::importer {

namespace {

struct SavedImage {
    std::string config;
    std::vector<std::string> tags;
    std::vector<std::string> layers;
};

Result<SavedImage> parse_saved_image(const oci::Json& value) {
    TRY(const oci::Fields fields, oci::Fields::of(value, "manifest.json: entry"));
    SavedImage image;
    TRY(image.config, fields.required_string("Config"));
    TRY(image.tags, fields.strings("RepoTags"));
    TRY(image.layers, fields.strings("Layers"));
    if (image.layers.size() <= oci::max_layers) return image;
    return make_error(ErrorCode::unsupported, "manifest.json: " + std::to_string(image.layers.size()) +
                                                  " layers exceed the limit of " + std::to_string(oci::max_layers));
}

Result<std::vector<SavedImage>> parse_saved_images(const std::string& text) {
    TRY(const oci::Json document, oci::parse_json(text, "manifest.json"));
    if (!document.is_array()) {
        return make_error(ErrorCode::unsupported, "manifest.json: not the list that docker save writes",
                          "copy the image to an OCI layout (skopeo copy ... oci:DIR) and import that");
    }
    std::vector<SavedImage> images;
    for (const oci::Json& value : document) {
        TRY(SavedImage image, parse_saved_image(value));
        images.push_back(std::move(image));
    }
    if (images.empty()) return make_error(ErrorCode::corrupt, "manifest.json lists no image");
    return images;
}

// "blobs/sha256/<hex>", as Docker 25 and later call the files: the name is a promise about the content.
std::optional<oci::Digest> promised_digest(std::string_view file) {
    constexpr std::string_view prefix = "blobs/";
    const std::size_t slash = file.rfind('/');
    if (!file.starts_with(prefix) || slash < prefix.size()) return std::nullopt;
    const auto digest = oci::Digest::parse(std::string(file.substr(prefix.size(), slash - prefix.size())) + ":" +
                                           std::string(file.substr(slash + 1)));
    return digest ? std::optional(digest.value()) : std::nullopt;
}

Result<> keep_promise(const std::string& file, const oci::Digest& found) {
    const auto promised = promised_digest(file);
    if (!promised || promised->algorithm() != found.algorithm() || *promised == found) return {};
    return make_error(ErrorCode::corrupt, "'" + file + "' has the digest " + found.str());
}

class DockerImport {
public:
    DockerImport(const Target& target, const SourceFiles& files) : target_(target), files_(files) {}

    Result<Imported> bring_in(const SavedImage& saved) {
        TRY(const std::string text, files_.read_document(saved.config, target_.intake.limits.document));
        TRY(const oci::ImageConfig config, oci::parse_image_config(text));
        TRY_OK(check_layer_count(config, saved.layers.size()));
        std::vector<snapshot::IncomingLayer> incoming;
        std::vector<oci::Descriptor> layers;
        for (std::size_t at = 0; at < saved.layers.size(); ++at) {
            const std::string& file = saved.layers[at];
            TRY(oci::Descriptor layer, layer_of(file, config.diff_ids[at]).within("layer '" + file + "'"));
            layers.push_back(std::move(layer));
            incoming.push_back({.descriptor = layers.back(), .diff_id = config.diff_ids[at], .open = opener(file)});
        }
        TRY(auto warnings, take_layers(target_, std::move(incoming)));
        TRY(const content::BlobInfo blob, target_.store.write_blob(text));
        TRY_OK(keep_promise(saved.config, blob.digest));
        TRY(oci::Descriptor manifest,
            store_manifest(target_.store, {describe(oci::media_type::config, blob), std::move(layers)}));
        return Imported{"", std::move(manifest), std::move(warnings)};
    }

private:
    std::function<Result<std::unique_ptr<layer::ByteSource>>()> opener(const std::string& file) const {
        return [this, file]() -> Result<std::unique_ptr<layer::ByteSource>> {
            TRY(SourceFile opened, files_.open(file));
            return std::move(opened.bytes);
        };
    }

    // A plain tar is named by its diff_id, which the intake proves. Images of one archive share layers: of compressed
    // ones, which have to be read for their name, each file is read once.
    Result<oci::Descriptor> layer_of(const std::string& file, const oci::DiffId& diff_id) {
        const auto known = compressed_.find(file);
        if (known != compressed_.end()) return known->second;
        TRY(const SourceFile head, files_.open(file));
        TRY(const layer::Decoder decoder, layer::make_decoder(*head.bytes));
        if (decoder.compression == layer::Compression::none) {
            TRY_OK(keep_promise(file, diff_id.digest));
            return describe(oci::media_type::layer, {diff_id.digest, head.size});
        }
        TRY(const oci::Digest digest, digest_of_file(file));
        TRY_OK(keep_promise(file, digest));
        const auto layer = describe(layer_media_type(decoder.compression), {digest, head.size});
        compressed_.emplace(file, layer);
        return layer;
    }

    Result<oci::Digest> digest_of_file(const std::string& file) const {
        TRY(const SourceFile whole, files_.open(file));
        TRY(content::Hasher hasher, content::Hasher::create("sha256"));
        layer::HashingSource source(*whole.bytes, std::move(hasher));
        TRY_OK(layer::drain(source, whole.size, "layer"));
        return std::move(source).finish();
    }

    const Target& target_;
    const SourceFiles& files_;
    std::map<std::string, oci::Descriptor> compressed_;
};

}  // namespace

Result<std::vector<Imported>> import_docker(const Target& target, const SourceFiles& files) {
    TRY(const std::string text, files.read_document("manifest.json", target.intake.limits.document));
    TRY(const auto saved_images, parse_saved_images(text));
    DockerImport import(target, files);
    std::vector<Imported> images;
    for (const SavedImage& saved : saved_images) {
        TRY(Imported image, import.bring_in(saved));
        for (const std::string& tag : saved.tags) images.push_back({tag, image.manifest, image.warnings});
        if (saved.tags.empty()) images.push_back(std::move(image));
    }
    return images;
}

}  // namespace coracle::importer

// Imports a docker-archive: manifest.json names a config, layers and tags for each image.
#include <map>

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "image/importers.hpp"
#include "oci/media_type.hpp"

namespace coracle::image {

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

Result<layer::Compression> compression_of(const base::UniqueFd& file) {
    layer::FileSource source(file.get());
    TRY(const layer::Decoder decoder, layer::make_decoder(source));
    return decoder.compression;
}

class DockerImport {
public:
    DockerImport(const content::Store& store, const SourceFiles& files) : store_(store), files_(files) {}

    Result<oci::Descriptor> bring_in(const SavedImage& saved) {
        TRY(const std::string text, files_.read_document(saved.config));
        TRY(const oci::ImageConfig config, oci::parse_image_config(text));
        TRY_OK(check_layer_count(config, saved.layers.size()));
        std::vector<oci::Descriptor> layers;
        for (const std::string& file : saved.layers) {
            TRY(oci::Descriptor layer, layer_of(file));
            layers.push_back(std::move(layer));
        }
        TRY(const content::BlobInfo blob, store_.write_blob(text));
        TRY_OK(keep_promise(saved.config, blob.digest));
        return store_manifest(store_, oci::Manifest{describe(oci::media_type::config, blob), std::move(layers)});
    }

private:
    // Images of one archive share layers: each file is taken once.
    Result<oci::Descriptor> layer_of(const std::string& file) {
        const auto known = layers_.find(file);
        if (known != layers_.end()) return known->second;
        TRY(oci::Descriptor layer, take(file).within("layer '" + file + "'"));
        layers_.emplace(file, layer);
        return layer;
    }

    Result<oci::Descriptor> take(const std::string& file) const {
        TRY(const base::UniqueFd head, files_.open(file));
        TRY(const layer::Compression compression, compression_of(head));
        TRY(const base::UniqueFd whole, files_.open(file));
        layer::FileSource source(whole.get());
        TRY(const content::BlobInfo blob, store_stream(store_, source));
        TRY_OK(keep_promise(file, blob.digest));
        return describe(layer_media_type(compression), blob);
    }

    const content::Store& store_;
    const SourceFiles& files_;
    std::map<std::string, oci::Descriptor> layers_;
};

}  // namespace

Result<std::vector<Imported>> import_docker(const content::Store& store, const SourceFiles& files) {
    TRY(const std::string text, files.read_document("manifest.json"));
    TRY(const auto saved_images, parse_saved_images(text));
    DockerImport import(store, files);
    std::vector<Imported> images;
    for (const SavedImage& saved : saved_images) {
        TRY(const oci::Descriptor manifest, import.bring_in(saved));
        for (const std::string& tag : saved.tags) images.push_back(Imported{tag, manifest});
        if (saved.tags.empty()) images.push_back(Imported{"", manifest});
    }
    return images;
}

}  // namespace coracle::image

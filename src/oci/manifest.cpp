// Implements manifests as JSON.
#include "oci/manifest.hpp"

#include "base/try.hpp"
#include "oci/media_type.hpp"

namespace coracle::oci {

namespace {

Result<> require_schema_2(const Json& document, const Fields& fields) {
    const auto version = document.find("schemaVersion");
    if (version != document.end() && *version == 1) {
        return make_error(ErrorCode::unsupported, "manifest: schema 1 is no longer supported",
                          "copy the image with a current tool, for example skopeo, and import the copy");
    }
    if (version == document.end() || *version != 2) return fields.wrong("schemaVersion", "2");
    return {};
}

Result<> require_image(const Fields& fields, const Manifest& manifest) {
    TRY(const std::string media_type, fields.string_or_empty("mediaType"));
    if (!media_type.empty() && media_kind(media_type) != MediaKind::manifest) {
        return make_error(ErrorCode::unsupported, "manifest: media type '" + media_type + "' is no image manifest");
    }
    if (media_kind(manifest.config.media_type) != MediaKind::config) {
        return make_error(ErrorCode::unsupported,
                          "manifest: not a container image: its config is '" + manifest.config.media_type + "'");
    }
    for (const Descriptor& layer : manifest.layers) {
        if (media_kind(layer.media_type) == MediaKind::layer) continue;
        return make_error(ErrorCode::unsupported, "manifest: layer media type '" + layer.media_type + "' is unknown");
    }
    return {};
}

Result<std::vector<Descriptor>> parse_layers(const Fields& fields) {
    TRY(const Json* list, fields.array("layers"));
    std::vector<Descriptor> layers;
    if (list == nullptr) return layers;
    if (list->size() > max_layers) {
        return make_error(ErrorCode::unsupported, "manifest: " + std::to_string(list->size()) +
                                                      " layers exceed the limit of " + std::to_string(max_layers));
    }
    for (const Json& value : *list) {
        TRY(Descriptor layer, parse_descriptor(value, "manifest: layer " + std::to_string(layers.size() + 1)));
        layers.push_back(std::move(layer));
    }
    return layers;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text) {
    TRY(const Json document, parse_json(text, "manifest"));
    TRY(const Fields fields, Fields::of(document, "manifest"));
    TRY_OK(require_schema_2(document, fields));
    if (fields.has("manifests")) {
        return make_error(ErrorCode::corrupt, "manifest: holds 'manifests' as well, so it could be read as an index");
    }
    if (!fields.has("config")) return make_error(ErrorCode::corrupt, "manifest: 'config' is missing");
    TRY(Descriptor config, parse_descriptor(document["config"], "manifest: config"));
    TRY(std::vector<Descriptor> layers, parse_layers(fields));
    Manifest manifest{std::move(config), std::move(layers)};
    TRY_OK(require_image(fields, manifest));
    return manifest;
}

std::string to_document(const Manifest& manifest) {
    Json layers = Json::array();
    for (const Descriptor& layer : manifest.layers) layers.push_back(to_json(layer));
    const Json document{{"schemaVersion", 2},
                        {"mediaType", media_type::manifest},
                        {"config", to_json(manifest.config)},
                        {"layers", std::move(layers)}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace coracle::oci

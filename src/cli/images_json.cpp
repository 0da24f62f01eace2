// Implements the JSON forms of images, removals and disk usage.
#include "cli/images_json.hpp"

#include <nlohmann/json.hpp>

namespace coracle::cli {

namespace {

using Json = nlohmann::ordered_json;

// Names and configurations are strangers' words: what is no UTF-8 becomes U+FFFD instead of an exception.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json image_json(const ImageInfo& image) {
    return {{"ref", image.ref},   {"manifest_digest", image.manifest_digest}, {"platform", image.platform},
            {"size", image.size}, {"created", or_null(image.created)},        {"warnings", image.warnings}};
}

Json layer_json(const LayerInfo& layer) {
    return {{"digest", layer.digest},
            {"diff_id", layer.diff_id},
            {"media_type", layer.media_type},
            {"size", layer.size},
            {"unpacked_size", layer.unpacked ? Json(*layer.unpacked) : Json()}};
}

Json part_json(const ContentUsage& part) {
    return {{"count", part.count}, {"size", part.size}, {"unneeded", part.unneeded}};
}

}  // namespace

std::string images_json(const std::vector<ImageInfo>& images) {
    Json list = Json::array();
    for (const auto& image : images) list.push_back(image_json(image));
    return dump({{"images", std::move(list)}});
}

std::string details_json(const ImageDetails& details) {
    Json json = image_json(details.info);
    json["names"] = details.names;
    json["config_digest"] = details.config_digest;
    json["last_used"] = details.last_used;
    json["layers"] = Json::array();
    for (const auto& layer : details.layers) json["layers"].push_back(layer_json(layer));
    json["config"] = Json::parse(details.config, nullptr, false);  // it was parsed when the image came in
    return dump({{"image", std::move(json)}});
}

std::string removal_json(const RemovalReport& report, bool dry_run) {
    Json removed = Json::array();
    std::uint64_t bytes = 0;
    for (const Removed& item : report.removed) {
        removed.push_back({{"kind", item.kind}, {"what", item.what}, {"size", item.size}});
        bytes += item.size;
    }
    return dump({{"dry_run", dry_run},
                 {"size", bytes},
                 {"removed", std::move(removed)},
                 {"in_use", report.in_use},
                 {"warnings", report.warnings}});
}

std::string usage_json(const DiskUsage& usage) {
    Json images = Json::array();
    for (const ImageUsage& image : usage.images) {
        images.push_back({{"names", image.names},
                          {"manifest_digest", image.manifest_digest},
                          {"own", image.own},
                          {"shared", image.shared}});
    }
    return dump({{"images", std::move(images)},
                 {"blobs", part_json(usage.blobs)},
                 {"layers", part_json(usage.layers)},
                 {"flat", part_json(usage.flat)},
                 {"total", usage.total}});
}

}  // namespace coracle::cli

// Implements indexes as JSON and the choice of a platform.
#include "oci/image_index.hpp"

#include "base/try.hpp"
#include "oci/media_type.hpp"

namespace coracle::oci {

namespace {

constexpr std::size_t max_entries = 10'000;

bool is_image(const Descriptor& entry) {
    const MediaKind kind = media_kind(entry.media_type);
    return !entry.is_attestation && (kind == MediaKind::manifest || kind == MediaKind::index);
}

// An entry without platform says nothing: last choice, but better than none.
int fitness_of(const Descriptor& entry, const Platform& wanted) {
    if (!is_image(entry)) return 0;
    return entry.platform ? 1 + fitness(*entry.platform, wanted) : 1;
}

bool is_chosen_at_all(const Descriptor& entry, int score) { return score > 1 || (score == 1 && !entry.platform); }

std::string platforms_of(const ImageIndex& index) {
    std::string text;
    for (const Descriptor& entry : index.manifests) {
        if (!is_image(entry) || !entry.platform || entry.platform->os == "unknown") continue;
        text += (text.empty() ? "" : ", ") + to_string(*entry.platform);
    }
    return text.empty() ? "no image at all" : text;
}

}  // namespace

Result<ImageIndex> parse_image_index(std::string_view text) {
    TRY(const Json document, parse_json(text, "index"));
    TRY(const Fields fields, Fields::of(document, "index"));
    if (fields.has("layers") || fields.has("config")) {
        return make_error(ErrorCode::corrupt, "index: holds 'layers' or 'config' as well, so it could be a manifest");
    }
    TRY(const Json* list, fields.array("manifests"));
    ImageIndex index;
    if (list == nullptr) return index;
    if (list->size() > max_entries) return make_error(ErrorCode::corrupt, "index: more than 10000 entries");
    for (const Json& value : *list) {
        TRY(Descriptor entry, parse_descriptor(value, "index: entry " + std::to_string(index.manifests.size() + 1)));
        index.manifests.push_back(std::move(entry));
    }
    return index;
}

std::string to_document(const ImageIndex& index) {
    Json manifests = Json::array();
    for (const Descriptor& entry : index.manifests) manifests.push_back(to_json(entry));
    const Json document{{"schemaVersion", 2}, {"mediaType", media_type::index}, {"manifests", std::move(manifests)}};
    return document.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<Descriptor> choose(const ImageIndex& index, const Platform& wanted) {
    const Descriptor* best = nullptr;
    int best_score = 0;
    for (const Descriptor& entry : index.manifests) {
        const int score = fitness_of(entry, wanted);
        if (score > best_score && is_chosen_at_all(entry, score)) {
            best = &entry;
            best_score = score;
        }
    }
    if (best != nullptr) return *best;
    return make_error(ErrorCode::unsupported,
                      "no image for " + to_string(wanted) + ": the index offers " + platforms_of(index),
                      "import an image that is built for this machine");
}

}  // namespace coracle::oci

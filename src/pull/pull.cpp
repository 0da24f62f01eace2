// Implements the story of a pull.
#include "pull/pull.hpp"

#include "base/try.hpp"
#include "content/name_lock.hpp"
#include "oci/image_index.hpp"
#include "oci/media_type.hpp"
#include "pull/places.hpp"
#include "registry/location.hpp"

namespace coracle::pull {

namespace {

// What a document says it is; where it does not, what the registry says, else what it looks like. A registry that
// contradicts the document is not believed (CVE-2021-41190).
Result<oci::MediaKind> kind_of(const registry::Document& document) {
    TRY(const oci::Json json, oci::parse_json(document.text, "manifest"));
    TRY(const oci::Fields fields, oci::Fields::of(json, "manifest"));
    TRY(const std::string inside, fields.string_or_empty("mediaType"));
    const oci::MediaKind outside =
        oci::media_kind(document.content_type.substr(0, document.content_type.find_first_of("; ")));
    if (inside.empty()) {
        if (outside == oci::MediaKind::manifest || outside == oci::MediaKind::index) return outside;
        return fields.has("manifests") ? oci::MediaKind::index : oci::MediaKind::manifest;
    }
    const oci::MediaKind kind = oci::media_kind(inside);
    if (outside != oci::MediaKind::other && outside != kind)
        return make_error(ErrorCode::corrupt, "manifest: it calls itself '" + inside.substr(0, 100) +
                                                  "', the registry '" + document.content_type.substr(0, 100) + "'");
    return kind;
}

Result<> store_document(const content::Store& store, const oci::Digest& digest, const std::string& text) {
    if (store.has(digest, text.size())) return {};
    TRY(content::BlobWriter writer, store.new_blob(digest.algorithm()));
    TRY_OK(writer.write(text));
    TRY_OK(std::move(writer).commit_as(digest, text.size()));
    return {};
}

class Pull {
public:
    Pull(const content::Store& store, const Order& order, const Places& places, const Progress& progress,
         std::vector<std::string>& warnings)
        : store_(store), order_(order), places_(places), progress_(progress), warnings_(warnings) {}

    // The manifest's descriptor; its blobs are in the store, its layers unpacked.
    Result<oci::Descriptor> run() {
        TRY(const registry::Document document, find_manifest());
        progress_({.kind = PullEvent::Kind::manifest, .digest = document.digest.str(), .bytes = 0, .total = 0});
        TRY(const oci::Manifest manifest, oci::parse_manifest(document.text));
        TRY(const oci::ImageConfig config, take_config(manifest));
        TRY_OK(take_layers(manifest, config));
        TRY_OK(store_document(store_, document.digest, document.text));
        return oci::Descriptor{.media_type = std::string(oci::media_type::manifest),
                               .digest = document.digest,
                               .size = document.text.size(),
                               .platform = {},
                               .ref_name = {},
                               .full_name = {}};
    }

private:
    oci::Platform wanted() const { return order_.platform.value_or(oci::this_platform()); }

    // From the reference down to the one manifest for the platform.
    Result<registry::Document> find_manifest() const {
        TRY(registry::Document document, first_document());
        for (std::uint64_t depth = 0; depth <= order_.intake.limits.index_depth; ++depth) {
            TRY(const oci::MediaKind kind, kind_of(document));
            if (kind != oci::MediaKind::index) return document;
            TRY(const oci::ImageIndex index, oci::parse_image_index(document.text));
            TRY(const oci::Descriptor chosen, oci::choose(index, wanted()));
            TRY(document, places_.manifest(chosen).within("manifest " + chosen.digest.short_hex()));
        }
        return make_error(ErrorCode::corrupt, "indexes are nested deeper than images.max_index_depth, " +
                                                  std::to_string(order_.intake.limits.index_depth));
    }

    Result<registry::Document> first_document() const {
        if (!order_.reference.digest) return places_.manifest(order_.reference.tag);
        return places_.manifest(oci::Descriptor{.media_type = {},
                                                .digest = *order_.reference.digest,
                                                .size = 0,
                                                .platform = {},
                                                .ref_name = {},
                                                .full_name = {}});
    }

    Result<oci::ImageConfig> take_config(const oci::Manifest& manifest) const {
        const oci::Descriptor& descriptor = manifest.config;
        const auto fetch = [&]() -> Result<std::string> {
            if (store_.has(descriptor.digest, descriptor.size))
                return store_.read_blob(descriptor.digest, descriptor.size);
            // Callers that pull the same image at once ask for it once, as for its layers.
            TRY(const auto lock,
                content::NameLock::acquire(store_.dir(), "blob-" + std::string(descriptor.digest.hex())));
            if (store_.has(descriptor.digest, descriptor.size))
                return store_.read_blob(descriptor.digest, descriptor.size);
            TRY(std::string text, places_.document(descriptor));
            TRY_OK(store_document(store_, descriptor.digest, text));
            return text;
        };
        TRY(const std::string text, fetch().within("config " + descriptor.digest.short_hex()));
        TRY(oci::ImageConfig config, oci::parse_image_config(text));
        TRY_OK(check(config, manifest.layers.size()));
        return config;
    }

    Result<> check(const oci::ImageConfig& config, std::size_t layers) const {
        if (config.diff_ids.size() != layers)
            return make_error(ErrorCode::corrupt, "the config names " + std::to_string(config.diff_ids.size()) +
                                                      " diff_ids, the manifest " + std::to_string(layers) + " layers");
        const oci::Platform offered{config.os, config.architecture, config.variant};
        if (oci::fitness(offered, wanted()) != 0) return {};
        const std::string remark =
            "the image is built for " + oci::to_string(offered) + ", not for " + oci::to_string(wanted());
        if (order_.platform)
            return make_error(ErrorCode::unsupported, remark, "leave --platform away to take it all the same");
        warnings_.push_back(remark);
        return {};
    }

    Result<> take_layers(const oci::Manifest& manifest, const oci::ImageConfig& config) {
        std::vector<snapshot::IncomingLayer> layers;
        for (std::size_t at = 0; at < manifest.layers.size(); ++at) {
            const oci::Descriptor& layer = manifest.layers[at];
            const bool present = store_.has(layer.digest, layer.size);
            progress_({.kind = present ? PullEvent::Kind::present : PullEvent::Kind::layer,
                       .digest = layer.digest.str(),
                       .bytes = 0,
                       .total = layer.size});
            layers.push_back({layer, config.diff_ids[at], [this, layer] { return places_.blob(layer); }});
        }
        snapshot::IntakeOptions options = order_.intake;
        options.progress = [this](const oci::Descriptor& layer, std::uint64_t bytes) {
            progress_(
                {.kind = PullEvent::Kind::layer, .digest = layer.digest.str(), .bytes = bytes, .total = layer.size});
        };
        snapshot::Intake intake(store_, std::move(options));
        TRY_OK(intake.take(layers));
        warnings_.insert(warnings_.end(), intake.warnings().begin(), intake.warnings().end());
        return {};
    }

    const content::Store& store_;
    const Order& order_;
    const Places& places_;
    const Progress& progress_;
    std::vector<std::string>& warnings_;
};

// Somebody else's registry may say "denied" of what it does not have.
bool is_absence(const Error& error) { return error.code == ErrorCode::not_found || error.code == ErrorCode::denied; }

}  // namespace

Result<Order> make_order(const PullRequest& request, const policy::RegistrySettings& settings,
                         const credentials::Sources& sources, std::vector<std::string>& warnings) {
    TRY(oci::Reference reference, oci::parse_reference(request.reference));
    const std::string context = "pull '" + reference.familiar() + "'";
    TRY(const auto locations, registry::locate(reference, settings).within(context));
    Order order{.reference = std::move(reference), .platform = {}, .targets = {}};
    for (const registry::Location& location : locations) {
        TRY(Target target, make_target(location, settings, sources, warnings).within(context));
        order.targets.push_back(std::move(target));
    }
    if (request.platform) {
        TRY(order.platform, oci::parse_platform(*request.platform));
    }
    order.intake.parallel = request.parallel.value_or(3);
    return order;
}

Result<Pulled> pull(const content::Store& store, const registry::Http& http, const Order& order,
                    const Progress& progress) {
    const auto pull_from = [&](const Target& target) -> Result<Pulled> {
        std::vector<std::string> warnings;
        TRY(const Places places, Places::create(http, target.places));
        // Until the image has its name nothing else keeps what came in from being removed.
        TRY(const auto intake, store.begin_intake());
        TRY(oci::Descriptor manifest, Pull(store, order, places, progress, warnings).run());
        manifest.ref_name = registry::name_in_store(order.reference, target.location);
        TRY(image::Image image, image::load(store, manifest));
        const std::string name = manifest.ref_name;
        TRY_OK(store.tag(name, std::move(manifest)));
        return Pulled{std::move(image), std::move(warnings)};
    };
    for (std::size_t at = 0;; ++at) {
        auto pulled = pull_from(order.targets[at]);
        const bool last = at + 1 == order.targets.size();
        if (pulled || last || !is_absence(pulled.error()))
            return std::move(pulled).within("pull '" + order.reference.familiar() + "'").at(Stage::resolve);
    }
}

}  // namespace coracle::pull

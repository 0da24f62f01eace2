// Implements the way from a reference to an image of the store.
#include "image/image.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "image/near_names.hpp"
#include "oci/reference.hpp"

namespace coracle::image {

namespace {

std::string familiar(const std::string& stored_name) {
    const auto reference = oci::parse_reference(stored_name);
    return reference ? reference.value().familiar() : stored_name;
}

bool ends_in(const std::string& stored, const std::string& wanted) { return stored.ends_with("/" + wanted); }

// The entries that `reference` means; several only where its name is the end of several.
std::vector<oci::Descriptor> matches(const std::vector<oci::Descriptor>& tags, const oci::Reference& reference) {
    std::vector<oci::Descriptor> found;
    const std::string wanted = reference.str();
    for (const oci::Descriptor& entry : tags) {
        // An image that was pulled by the digest of its index has that name and another digest.
        if (entry.ref_name == wanted || (reference.digest && entry.digest == *reference.digest)) return {entry};
        if (!reference.digest && ends_in(entry.ref_name, wanted)) found.push_back(entry);
    }
    return found;
}

Error unknown(const oci::Reference& reference, const std::vector<oci::Descriptor>& tags) {
    std::vector<std::string> names;
    for (const oci::Descriptor& entry : tags) names.push_back(familiar(entry.ref_name));
    const std::string near = near_names(reference.familiar(), names);
    return make_error(ErrorCode::not_found, "image '" + reference.familiar() + "' is not in the store",
                      near.empty() ? "import it first: coracle import SOURCE --tag " + reference.familiar()
                                   : "the store has " + near + "; others come in with: coracle import SOURCE");
}

Error ambiguous(const oci::Reference& reference, const std::vector<oci::Descriptor>& found) {
    std::string names;
    for (const oci::Descriptor& entry : found) names += (names.empty() ? "" : ", ") + familiar(entry.ref_name);
    return make_error(ErrorCode::invalid_request, "image '" + reference.familiar() + "' could be one of " + names,
                      "write the whole name");
}

std::uint64_t size_of(const oci::Descriptor& descriptor, const oci::Manifest& manifest) {
    std::uint64_t size = descriptor.size + manifest.config.size;
    for (const oci::Descriptor& layer : manifest.layers) size += layer.size;
    return size;
}

}  // namespace

Result<Image> load(const content::Store& store, const oci::Descriptor& descriptor) {
    TRY(const std::string document, store.read_blob(descriptor.digest, descriptor.size));
    TRY(oci::Manifest manifest, oci::parse_manifest(document));
    TRY(const std::string config_text, store.read_blob(manifest.config.digest, manifest.config.size));
    TRY(oci::ImageConfig config, oci::parse_image_config(config_text));
    if (config.diff_ids.size() != manifest.layers.size()) {
        return make_error(ErrorCode::corrupt, "the config names " + std::to_string(config.diff_ids.size()) +
                                                  " diff_ids, the manifest " + std::to_string(manifest.layers.size()) +
                                                  " layers");
    }
    const std::uint64_t size = size_of(descriptor, manifest);
    return Image{.ref = descriptor.ref_name.empty() ? descriptor.digest.str() : familiar(descriptor.ref_name),
                 .manifest_digest = descriptor.digest,
                 .config_digest = std::move(manifest.config.digest),
                 .config = std::move(config),
                 .layers = std::move(manifest.layers),
                 .size = size,
                 .lease = {}};
}

Result<std::string> read_config(const content::Store& store, const oci::Descriptor& descriptor) {
    TRY(const std::string document, store.read_blob(descriptor.digest, descriptor.size));
    TRY(const oci::Manifest manifest, oci::parse_manifest(document));
    return store.read_blob(manifest.config.digest, manifest.config.size);
}

Result<oci::Digest> chain_id(const oci::ImageConfig& config) {
    if (config.diff_ids.empty()) return make_error(ErrorCode::unsupported, "the image has no layers");
    oci::Digest chain = config.diff_ids.front().digest;
    for (std::size_t at = 1; at < config.diff_ids.size(); ++at) {
        TRY(chain, content::digest_of(chain.str() + " " + config.diff_ids[at].digest.str()));
    }
    return chain;
}

Result<oci::Descriptor> find(const content::Store& store, std::string_view ref) {
    TRY(const oci::Reference reference, oci::parse_reference(ref));
    TRY(const auto tags, store.tags());
    auto found = matches(tags, reference);
    if (found.empty()) return unknown(reference, tags);
    if (found.size() > 1) return ambiguous(reference, found);
    return std::move(found.front());
}

Result<Image> resolve(const content::Store& store, std::string_view ref) {
    // A manifest that goes between the look at its name and the lease was removed or replaced: the name tells.
    constexpr int most_tries = 3;
    for (int tries = 1;; ++tries) {
        TRY(const oci::Descriptor entry, find(store, ref).at(Stage::resolve));
        TRY(auto lease, store.lease(entry.digest).at(Stage::resolve));
        if (!lease && tries < most_tries) continue;
        TRY(Image image, load(store, entry).within("image '" + familiar(entry.ref_name) + "'").at(Stage::resolve));
        image.lease = std::move(lease);
        return image;
    }
}

Result<std::vector<Image>> list(const content::Store& store) {
    TRY(auto tags, store.tags());
    std::sort(tags.begin(), tags.end(), [](const auto& a, const auto& b) { return a.ref_name < b.ref_name; });
    std::vector<Image> images;
    for (const oci::Descriptor& entry : tags) {
        auto image = load(store, entry);
        if (image) images.push_back(std::move(image).value());
    }
    return images;
}

}  // namespace coracle::image

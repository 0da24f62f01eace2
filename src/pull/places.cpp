// Implements asking one place after the other.
#include "pull/places.hpp"

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "oci/json.hpp"

namespace coracle::pull {

namespace {

Result<> prove(const std::string& text, const oci::Descriptor& descriptor) {
    if (descriptor.size != 0 && text.size() != descriptor.size)
        return make_error(ErrorCode::corrupt, "it has " + std::to_string(text.size()) + " bytes, its descriptor says " +
                                                  std::to_string(descriptor.size));
    TRY(const oci::Digest found, content::digest_of(text, descriptor.digest.algorithm()));
    if (found == descriptor.digest) return {};
    return make_error(ErrorCode::corrupt,
                      "its content has the digest " + found.str() + ", not " + descriptor.digest.str());
}

Result<std::string> read_document(layer::ByteSource& source, std::uint64_t size) {
    std::string text(size, '\0');
    std::size_t filled = 0;
    for (;;) {
        // One byte more than there should be, so that the source sees its end.
        char more = 0;
        const std::span<char> rest(text.data() + filled, text.size() - filled);
        TRY(const std::size_t got, source.read(rest.empty() ? std::span<char>(&more, 1) : rest));
        if (got == 0) break;
        filled += got;
        if (filled > text.size()) break;
    }
    text.resize(std::min(filled, text.size()));
    return text;
}

}  // namespace

template <class Ask>
auto Places::first_of(const Ask& ask) const {
    for (std::size_t at = 0;; ++at) {
        auto answer = ask(*repositories_[at]);
        if (answer || at + 1 == repositories_.size()) return answer;
    }
}

Result<Target> make_target(const registry::Location& location, const policy::RegistrySettings& settings,
                           const credentials::Sources& sources, std::vector<std::string>& warnings) {
    TRY(const auto locations, registry::with_mirrors(location, settings));
    Target target{.location = location, .places = {}};
    for (const registry::Location& place : locations) {
        TRY(auto found, credentials::find_credentials(sources, place.host, place.repository, warnings));
        target.places.push_back({place, std::move(found)});
    }
    return target;
}

Result<Places> Places::create(const registry::Http& http, const std::vector<Place>& places) {
    Places created;
    for (const Place& place : places) {
        TRY(auto repository, registry::Repository::create(http, place.location, place.credentials));
        created.repositories_.push_back(std::move(repository));
    }
    return created;
}

Result<registry::Document> Places::manifest(const std::string& tag) const {
    return first_of([&tag](const registry::Repository& repository) { return repository.manifest(tag); });
}

Result<registry::Document> Places::manifest(const oci::Descriptor& descriptor) const {
    return first_of([&descriptor](const registry::Repository& repository) -> Result<registry::Document> {
        TRY(registry::Document document, repository.manifest(descriptor.digest.str()));
        TRY_OK(prove(document.text, descriptor));
        document.digest = descriptor.digest;
        return document;
    });
}

Result<std::string> Places::document(const oci::Descriptor& descriptor) const {
    if (descriptor.size > oci::max_document.count)
        return make_error(ErrorCode::corrupt, "larger than " + to_string(oci::max_document));
    return first_of([&descriptor](const registry::Repository& repository) -> Result<std::string> {
        TRY(const auto source, repository.blob(descriptor));
        TRY(std::string text, read_document(*source, descriptor.size));
        TRY_OK(prove(text, descriptor));
        return text;
    });
}

Result<std::unique_ptr<layer::ByteSource>> Places::blob(const oci::Descriptor& descriptor) const {
    return first_of([&descriptor](const registry::Repository& repository) { return repository.blob(descriptor); });
}

}  // namespace coracle::pull

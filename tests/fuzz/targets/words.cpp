// Short texts: names and platforms that people write, challenges and addresses that registries answer with.
#include "fuzz/targets.hpp"
#include "oci/platform.hpp"
#include "oci/reference.hpp"
#include "registry/challenge.hpp"
#include "registry/url.hpp"

namespace coracle::fuzz {
namespace {

void references(std::string_view input) {
    if (const auto reference = oci::parse_reference(input)) {
        const auto full = oci::parse_reference(reference->str());
        promise(full.has_value() && full->str() == reference->str(), "the full spelling means the same image");
        const auto familiar = oci::parse_reference(reference->familiar());
        promise(familiar.has_value() && familiar->str() == reference->str(), "the short spelling means the same image");
        promise(reference->name.empty() || oci::covers(reference->name, reference->name), "a name covers itself");
    }
    const auto made = oci::parse_reference(oci::reference_from(input).str());
    promise(made.has_value(), "a valid reference comes out of any text");
    (void)oci::is_registry(input);
}

void platforms(std::string_view input) {
    const auto platform = oci::parse_platform(input);
    if (!platform) return;
    const auto again = oci::parse_platform(oci::to_string(*platform));
    promise(again.has_value() && *again == *platform, "a platform reads as it was written");
    (void)oci::fitness(*platform, oci::this_platform());
}

void answers(std::string_view input) {
    const auto challenges = registry::parse_challenges(input);
    const auto chosen = registry::choose_challenge({std::string(input)});
    promise(chosen.has_value() == !challenges.empty(), "one is chosen where there are any");

    const auto base = registry::parse_url("https://registry.example/v2/");
    for (const auto& url : {registry::parse_url(input), registry::resolve_url(*base, input)}) {
        if (!url) continue;
        const auto again = registry::parse_url(url->text);
        promise(again.has_value() && again->origin == url->origin, "an address keeps its origin");
    }
}

}  // namespace

void words(std::string_view input) {
    references(input);
    platforms(input);
    answers(input);
}

}  // namespace coracle::fuzz

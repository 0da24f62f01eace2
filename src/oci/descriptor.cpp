// Implements descriptors as JSON.
#include "oci/descriptor.hpp"

#include "base/try.hpp"

namespace coracle::oci {

namespace {

constexpr const char* full_name_key = "io.containerd.image.name";
constexpr const char* reference_type_key = "vnd.docker.reference.type";

Result<std::optional<Platform>> parse_platform(const Fields& descriptor) {
    TRY(const auto fields, descriptor.object("platform"));
    if (!fields) return std::optional<Platform>();
    TRY(std::string os, fields->string_or_empty("os"));
    TRY(std::string architecture, fields->string_or_empty("architecture"));
    TRY(std::string variant, fields->string_or_empty("variant"));
    return std::optional<Platform>(Platform{std::move(os), std::move(architecture), std::move(variant)});
}

Json to_json(const Platform& platform) {
    Json json{{"os", platform.os}, {"architecture", platform.architecture}};
    if (!platform.variant.empty()) json["variant"] = platform.variant;
    return json;
}

Result<> read_annotations(const Fields& fields, Descriptor& descriptor) {
    TRY(const auto annotations, fields.object("annotations"));
    if (!annotations) return {};
    TRY(descriptor.ref_name, annotations->string_or_empty(ref_name_key));
    TRY(descriptor.full_name, annotations->string_or_empty(full_name_key));
    TRY(const std::string reference_type, annotations->string_or_empty(reference_type_key));
    descriptor.is_attestation = reference_type == "attestation-manifest";
    return {};
}

}  // namespace

Result<Descriptor> parse_descriptor(const Json& value, const std::string& what) {
    TRY(const Fields fields, Fields::of(value, what));
    TRY(const std::string digest_text, fields.required_string("digest"));
    TRY(Digest digest, Digest::parse(digest_text).within(what));
    TRY(std::string media_type, fields.string_or_empty("mediaType"));
    TRY(const std::uint64_t size, fields.required_size("size"));
    TRY(auto platform, parse_platform(fields));
    Descriptor descriptor{.media_type = std::move(media_type),
                          .digest = std::move(digest),
                          .size = size,
                          .platform = std::move(platform),
                          .ref_name = {},
                          .full_name = {}};
    TRY_OK(read_annotations(fields, descriptor));
    return descriptor;
}

Json to_json(const Descriptor& descriptor) {
    Json json{{"mediaType", descriptor.media_type}, {"digest", descriptor.digest.str()}, {"size", descriptor.size}};
    if (descriptor.platform) json["platform"] = to_json(*descriptor.platform);
    if (!descriptor.ref_name.empty()) json["annotations"][ref_name_key] = descriptor.ref_name;
    return json;
}

}  // namespace coracle::oci

// An OCI descriptor: what a manifest or index says about a blob - media type, digest, size - and for whom it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oci/digest.hpp"
#include "oci/json.hpp"
#include "oci/platform.hpp"

namespace coracle::oci {

// Annotation keys that coracle reads or writes.
inline constexpr const char* ref_name_key = "org.opencontainers.image.ref.name";

struct Descriptor {
    std::string media_type;
    Digest digest;
    std::uint64_t size = 0;
    std::optional<Platform> platform;
    std::string ref_name;         // annotation org.opencontainers.image.ref.name, may be empty
    std::string full_name;        // annotation io.containerd.image.name, may be empty
    bool is_attestation = false;  // BuildKit's provenance beside an image, not an image
};

Result<Descriptor> parse_descriptor(const Json& value, const std::string& what);
Json to_json(const Descriptor& descriptor);

}  // namespace coracle::oci

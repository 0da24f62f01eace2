// An image manifest: one config and the layers, lowest first. OCI and Docker schema 2 alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oci/descriptor.hpp"

namespace coracle::oci {

// overlayfs stacks at most 500 layers (OVL_MAX_STACK in the kernel's fs/overlayfs/params.h).
inline constexpr std::size_t max_layers = 500;

struct Manifest {
    Descriptor config;
    std::vector<Descriptor> layers;
};

// Refuses schema 1, a document that is an index as well (CVE-2021-41190), and with `unsupported` what is no image: a
// helm chart, a signature.
Result<Manifest> parse_manifest(std::string_view text);

// The OCI document, the same bytes for the same manifest.
std::string to_document(const Manifest& manifest);

}  // namespace coracle::oci

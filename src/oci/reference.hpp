// An image reference as people write it - "busybox", "busybox:1.36", "name@sha256:..." - and its one full spelling.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oci/digest.hpp"

namespace coracle::oci {

struct Reference {
    std::string name;  // "busybox", "host:5000/team/app"; empty for a bare digest
    std::string tag;   // "latest" where neither tag nor digest was written; empty beside a digest
    std::optional<Digest> digest;

    // "busybox:latest", "busybox@sha256:..." or "sha256:...".
    std::string str() const;
    // As people write it: "busybox" for "busybox:latest".
    std::string familiar() const;
    // Whether the name begins with a registry: "localhost/app", "registry.example/team/app", "host:5000/app".
    bool names_registry() const;
};

// The grammar of the distribution specification: at most 255 bytes of lower-case path components and an optional
// host[:port] in front, a tag of at most 128. Error: invalid_request, naming the text.
Result<Reference> parse_reference(std::string_view text);

// A valid reference out of any text ("My Image.v1" -> "my-image.v1"), for names made of file names.
Reference reference_from(std::string_view text);

// Whether `text` is a host[:port], with or without a part of a repository's path: "docker.io", "host:5000/team".
bool is_registry(std::string_view text);

// Whether `prefix` ("host", "host/team") stands for the repository `name`: "host/team" covers "host/team" and
// "host/team/app", and not "host/teamwork".
bool covers(std::string_view prefix, std::string_view name);

}  // namespace coracle::oci

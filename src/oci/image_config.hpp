// The image configuration of the OCI image specification: how a program of the image is started, and its layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "oci/digest.hpp"

namespace coracle::oci {

struct ImageConfig {
    std::string os;            // "linux"
    std::string architecture;  // "amd64"
    std::string variant;       // "v8" or empty
    std::string created;       // RFC 3339 or empty

    std::vector<std::string> entrypoint;
    std::vector<std::string> cmd;
    std::vector<std::string> env;  // "NAME=value"
    std::string working_dir;       // empty where the image names none
    std::string user;              // "", "1000", "app", "app:group", "1000:1000"
    std::optional<std::string> stop_signal;

    std::vector<DiffId> diff_ids;  // lowest layer first
};

// Strict on types and digests, silent on unknown keys, as the specification asks. Error: corrupt.
Result<ImageConfig> parse_image_config(std::string_view json);

}  // namespace coracle::oci

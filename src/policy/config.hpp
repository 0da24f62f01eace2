// The configuration file: an administrator's defaults and ceilings, a user's preferences.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "policy/registry_settings.hpp"

namespace coracle::policy {

// The most that a request may have. Only the file in /etc may set them.
struct Ceilings {
    enum class Above { clamp, refuse };  // what becomes of a request that asks for more

    std::optional<Bytes> memory;
    std::optional<Cpus> cpus;
    std::optional<Bytes> storage;
    Above above = Above::clamp;
};

// A key of the section `images`: what of it an image may ask of the host. The meanings are layer/limits.hpp's.
struct ImageBound {
    std::string_view key;
    bool bytes = false;  // a size and not a count
};
inline constexpr std::array<ImageBound, 17> image_bounds{{{"max_entries"},
                                                          {"max_image_entries"},
                                                          {"max_unpacked", true},
                                                          {"max_image_unpacked", true},
                                                          {"max_stream", true},
                                                          {"max_expansion"},
                                                          {"expansion_free", true},
                                                          {"max_path"},
                                                          {"max_path_depth"},
                                                          {"max_pax", true},
                                                          {"max_xattr", true},
                                                          {"max_decoder_memory", true},
                                                          {"max_layers"},
                                                          {"max_index_depth"},
                                                          {"max_archive_members"},
                                                          {"max_document", true},
                                                          {"parallel"}}};

// What one file says; absent is "says nothing", so that files can lie on each other.
struct Config {
    std::optional<std::string> default_image;
    std::optional<Bytes> memory;
    std::optional<Cpus> cpus;
    std::optional<Duration> wall_time;
    std::optional<NetworkMode> network;
    std::optional<bool> read_only_root;
    std::vector<std::string> drop_capabilities;  // "CAP_KILL" form, or "ALL"
    std::optional<std::string> seccomp;          // a profile's name or path
    std::optional<std::string> runtime;          // "runc", "crun", "auto" or a path
    Ceilings ceilings;
    std::map<std::string, std::uint64_t> images;  // by key of image_bounds
    RegistrySettings registries;
    // Where a key was set: "memory_limit" -> "/etc/coracle/config.yaml:4".
    std::map<std::string, std::string> sources;
};

// Reads a configuration's text; `file` names it in messages: "config.yaml:4: memory_limit: '512x' is not a size".
// Unknown keys are errors with a did-you-mean.
Result<Config> parse_config(const std::string& text, std::string_view file);

// `upper` over `lower`: what upper says holds, but ceilings stay lower's, and capabilities that lower drops and
// registries that it blocks are so for both: a user's file must not give back what the administrator's took.
Config overlaid(const Config& lower, const Config& upper);
bool sets_ceilings(const Config& config);

}  // namespace coracle::policy

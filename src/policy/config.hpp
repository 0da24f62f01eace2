// The configuration file: an administrator's defaults and ceilings, a user's preferences.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"

namespace coracle::policy {

// The most that a request may have. Only the file in /etc may set them.
struct Ceilings {
    enum class Above { clamp, refuse };  // what becomes of a request that asks for more

    std::optional<Bytes> memory;
    std::optional<Cpus> cpus;
    std::optional<Bytes> storage;
    Above above = Above::clamp;
};

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
};

// Reads a configuration's text; `file` names it in messages: "config.yaml:4: memory_limit: '512x' is not a size".
// Unknown keys are errors with a did-you-mean.
Result<Config> parse_config(const std::string& text, std::string_view file);
Result<Config> read_config(const std::filesystem::path& path);

// `upper` over `lower`: what upper says holds, ceilings stay lower's.
Config overlaid(const Config& lower, const Config& upper);

}  // namespace coracle::policy

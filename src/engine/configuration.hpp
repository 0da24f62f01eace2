// Reads the configuration files of this host and this user, and lays them on each other.
#pragma once

#include <string>
#include <vector>

#include "coracle/engine.hpp"
#include "coracle/error.hpp"
#include "policy/config.hpp"

namespace coracle::engine {

struct Configuration {
    policy::Config config;
    std::vector<std::string> warnings;
};

// Error: denied where a file may be written by others than it should, invalid_request with file, line and key for what
// cannot be read, not_found for a missing EngineOptions::config.
Result<Configuration> read_configuration(const EngineOptions& options);

}  // namespace coracle::engine

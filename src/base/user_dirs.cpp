// Implements the look at the environment.
#include "base/user_dirs.hpp"

#include <cstdlib>

namespace coracle::base {

std::optional<std::filesystem::path> directory_in_env(const char* name) {
    const char* const value = std::getenv(name);
    if (value == nullptr || value[0] != '/') return std::nullopt;
    return std::filesystem::path(value);
}

std::optional<std::filesystem::path> config_home() {
    if (auto named = directory_in_env("XDG_CONFIG_HOME")) return named;
    const auto home = directory_in_env("HOME");
    return home ? std::optional(*home / ".config") : std::nullopt;
}

}  // namespace coracle::base

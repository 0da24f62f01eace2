// The directories that the environment names for this user (XDG Base Directory Specification).
#pragma once

#include <filesystem>
#include <optional>

namespace coracle::base {

// An absolute path in the variable `name`; others are void, as the specification says.
std::optional<std::filesystem::path> directory_in_env(const char* name);

// $XDG_CONFIG_HOME, or ~/.config. No value: the environment names neither.
std::optional<std::filesystem::path> config_home();

}  // namespace coracle::base

// The tables by which configuration files are read: one row a key, with the parser of its value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "policy/config.hpp"
#include "policy/yaml.hpp"

namespace coracle::policy {

struct ConfigRow {
    std::string_view key;
    Result<> (*set)(const YamlValue&, Config&);
};

// Reads a group of keys by its rows, and notes the line of each key in Config::sources. An unknown key is an Error with
// a did-you-mean; Errors begin with "line 4: key: ".
Result<> read_group(const YamlValue& map, std::span<const ConfigRow> rows, Config& config);

Result<std::string> word_of(const YamlValue& value);
Result<std::vector<std::string>> words_of(const YamlValue& value);

// A scalar, through the parser of its unit.
template <class T>
Result<> read_scalar(const YamlValue& value, Result<T> (*parse)(std::string_view), std::optional<T>& target) {
    TRY(const std::string word, word_of(value));
    TRY(target, parse(word));
    return {};
}

// The sections that have files of their own.
Result<> read_images(const YamlValue& value, Config& config);
Result<> read_registries(const YamlValue& value, Config& config);

}  // namespace coracle::policy

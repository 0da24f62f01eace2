// Reads JSON of strangers without exceptions: bounded, typed, with the place in every message.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::policy {

using Json = nlohmann::json;

// Error: invalid_request for text that is larger than 1 MiB or no JSON object.
Result<Json> parse_object(std::string_view text);

// A value and where it stands, "groups[3].names".
class Place {
public:
    Place(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

    const Json& value() const { return *value_; }
    const std::string& path() const { return path_; }
    Error wrong(std::string_view what, std::string hint = {}) const;

    // Members of an object. Absent and null are the same.
    std::optional<Place> find(const std::string& key) const;
    Result<Place> need(const std::string& key) const;
    // Error for a key that is none of `known`.
    Result<> only(const std::vector<std::string_view>& known) const;

    Result<std::string> text() const;
    // A number, or text like "0x5412".
    Result<std::uint64_t> number(std::uint64_t largest) const;
    // The elements of an array of at most 4096.
    Result<std::vector<Place>> elements() const;
    Result<std::vector<std::string>> texts() const;

private:
    const Json* value_;
    std::string path_;
};

// The member's texts, or none where it is absent.
Result<std::vector<std::string>> texts_or_none(const Place& object, const std::string& key);

}  // namespace coracle::policy

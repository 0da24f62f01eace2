// Reads untrusted JSON documents strictly: one whole document, bounded nesting, and every member of the asked type.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::oci {

using Json = nlohmann::json;

// Larger manifests, indexes and configs are refused before they are parsed, as registries do.
inline constexpr Bytes max_document = 4_MiB;

// Bytes after the document, ill-formed UTF-8 and more than 64 levels of nesting are errors (corrupt). `what` names the
// document in messages.
Result<Json> parse_json(std::string_view text, std::string_view what);

// The members of one JSON object. An absent member and a null are the same, as Docker writes them. A string with a NUL
// byte is refused: as a path, a name or an environment entry it would be cut silently later.
class Fields {
public:
    static Result<Fields> of(const Json& object, std::string what);

    bool has(const char* key) const { return find(key) != nullptr; }
    Result<std::string> string_or_empty(const char* key) const;
    Result<std::string> required_string(const char* key) const;
    Result<std::uint64_t> required_size(const char* key) const;
    Result<std::vector<std::string>> strings(const char* key) const;  // absent: empty
    Result<const Json*> array(const char* key) const;                 // absent: nullptr
    Result<std::optional<Fields>> object(const char* key) const;
    Error wrong(const char* key, std::string_view wanted) const;
    const std::string& what() const { return what_; }

private:
    Fields(const Json& object, std::string what) : object_(&object), what_(std::move(what)) {}
    const Json* find(const char* key) const;
    const Json* object_;
    std::string what_;
};

}  // namespace coracle::oci

// Implements the strict reading of JSON; nlohmann's exceptions end here.
#include "oci/json.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace coracle::oci {

namespace {

constexpr std::size_t max_depth = 64;

// Counts brackets outside strings, so that a document of 200,000 levels is refused before anything walks it.
bool nests_too_deep(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_string) {
            if (c == '\\') ++at;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return false;
}

Error corrupt(std::string message) { return make_error(ErrorCode::corrupt, std::move(message)); }

bool is_clean_string(const Json& value) {
    return value.is_string() && value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
    const std::string name(what);
    if (text.size() > max_document.count) return corrupt(name + ": larger than " + to_string(max_document));
    if (nests_too_deep(text)) return corrupt(name + ": nested deeper than " + std::to_string(max_depth) + " levels");
    try {
        return Json::parse(text);
    } catch (const Json::exception& problem) {
        return corrupt(name + ": not valid JSON: " + problem.what());
    }
}

Result<Fields> Fields::of(const Json& object, std::string what) {
    if (!object.is_object()) return corrupt(what + ": not a JSON object");
    return Fields(object, std::move(what));
}

const Json* Fields::find(const char* key) const {
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

Error Fields::wrong(const char* key, std::string_view wanted) const {
    return corrupt(what_ + ": '" + key + "' is not " + std::string(wanted));
}

Result<std::string> Fields::string_or_empty(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::string();
    if (!is_clean_string(*value)) return wrong(key, "a string without NUL bytes");
    return value->get_ref<const std::string&>();
}

Result<std::string> Fields::required_string(const char* key) const {
    if (!has(key)) return corrupt(what_ + ": '" + key + "' is missing");
    return string_or_empty(key);
}

Result<std::uint64_t> Fields::required_size(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr || !value->is_number_unsigned()) return wrong(key, "a size of 0 or more");
    return value->get<std::uint64_t>();
}

Result<std::vector<std::string>> Fields::strings(const char* key) const {
    TRY(const Json* values, array(key));
    std::vector<std::string> texts;
    if (values == nullptr) return texts;
    for (const Json& value : *values) {
        if (!is_clean_string(value)) return wrong(key, "a list of strings without NUL bytes");
        texts.push_back(value.get_ref<const std::string&>());
    }
    return texts;
}

Result<const Json*> Fields::array(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is_array()) return wrong(key, "a list");
    return value;
}

Result<std::optional<Fields>> Fields::object(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::optional<Fields>();
    TRY(Fields fields, of(*value, what_ + " '" + key + "'"));
    return std::optional<Fields>(std::move(fields));
}

}  // namespace coracle::oci

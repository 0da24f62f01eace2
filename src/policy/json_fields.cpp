// Implements reading JSON: nlohmann's accessors are called only after the type was looked at, so none throws.
#include "policy/json_fields.hpp"

#include <charconv>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"
#include "coracle/units.hpp"

namespace coracle::policy {

Result<Json> parse_object(std::string_view text) {
    if (text.size() > (1_MiB).count) return make_error(ErrorCode::invalid_request, "larger than 1m");
    Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return make_error(ErrorCode::invalid_request, "not valid JSON");
    if (!parsed.is_object()) return make_error(ErrorCode::invalid_request, "not a JSON object");
    return parsed;
}

Error Place::wrong(std::string_view what, std::string hint) const {
    const std::string where = path_.empty() ? "" : path_ + ": ";
    return make_error(ErrorCode::invalid_request, where + std::string(what), std::move(hint));
}

std::optional<Place> Place::find(const std::string& key) const {
    if (!value_->is_object()) return std::nullopt;
    const auto member = value_->find(key);
    if (member == value_->end() || member->is_null()) return std::nullopt;
    return Place(*member, path_.empty() ? key : path_ + "." + key);
}

Result<Place> Place::need(const std::string& key) const {
    if (!value_->is_object()) return wrong("not an object");
    auto member = find(key);
    if (!member) return wrong("'" + key + "' is missing");
    return std::move(*member);
}

Result<> Place::only(const std::vector<std::string_view>& known) const {
    if (!value_->is_object()) return wrong("not an object");
    for (const auto& [key, unused] : value_->items()) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            return wrong("unknown key '" + key.substr(0, 64) + "'", base::did_you_mean(key, known));
        }
    }
    return {};
}

Result<std::string> Place::text() const {
    if (!value_->is_string()) return wrong("not a string");
    return value_->get_ref<const std::string&>();
}

Result<std::uint64_t> Place::number(std::uint64_t largest) const {
    std::optional<std::uint64_t> number;
    if (value_->is_number_unsigned()) number = value_->get<std::uint64_t>();
    if (value_->is_string()) {
        const auto& text = value_->get_ref<const std::string&>();
        std::uint64_t parsed = 0;
        const char* const end = text.data() + text.size();
        if (text.compare(0, 2, "0x") == 0) {
            const auto [after, error] = std::from_chars(text.data() + 2, end, parsed, 16);
            if (error == std::errc() && after == end) number = parsed;
        }
    }
    if (!number || *number > largest) return wrong("not a number from 0 to " + std::to_string(largest));
    return *number;
}

Result<std::vector<Place>> Place::elements() const {
    if (!value_->is_array()) return wrong("not an array");
    if (value_->size() > 4096) return wrong("more than 4096 elements");
    std::vector<Place> places;
    for (const Json& element : *value_) places.emplace_back(element, path_ + "[" + std::to_string(places.size()) + "]");
    return places;
}

Result<std::vector<std::string>> Place::texts() const {
    TRY(const std::vector<Place> places, elements());
    std::vector<std::string> texts;
    for (const Place& place : places) {
        TRY(std::string text, place.text());
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<std::vector<std::string>> texts_or_none(const Place& object, const std::string& key) {
    const auto member = object.find(key);
    if (!member) return std::vector<std::string>{};
    return member->texts();
}

}  // namespace coracle::policy

// Implements the spellings of capabilities and the arithmetic of adding and dropping them.
#include "policy/capabilities.hpp"

#include <algorithm>
#include <set>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"

namespace coracle::policy {

namespace {

constexpr std::string_view prefix = "CAP_";

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
}

Result<std::set<std::string>> parse_all(const std::vector<std::string>& texts) {
    std::set<std::string> names;
    for (const std::string& text : texts) {
        TRY(std::string name, parse_capability(text));
        names.insert(std::move(name));
    }
    return names;
}

bool is_all(const std::string& text) { return upper(text) == "ALL"; }

}  // namespace

Result<std::string> parse_capability(std::string_view text) {
    std::string name = upper(text.substr(0, 64));
    if (name.compare(0, prefix.size(), prefix) != 0) name.insert(0, prefix);
    if (std::find(capability_names.begin(), capability_names.end(), name) != capability_names.end()) return name;
    return make_error(ErrorCode::invalid_request, "'" + std::string(text.substr(0, 64)) + "' is not a capability",
                      base::did_you_mean(name, capability_names, "capabilities(7) lists them"));
}

Result<std::vector<std::string>> combine_capabilities(const std::vector<std::string>& add,
                                                      const std::vector<std::string>& drop) {
    if (std::any_of(add.begin(), add.end(), is_all)) {
        return make_error(ErrorCode::invalid_request, "all capabilities at once cannot be added",
                          "name the ones that the program needs");
    }
    TRY(const std::set<std::string> added, parse_all(add));
    const bool drops_all = std::any_of(drop.begin(), drop.end(), is_all);
    std::vector<std::string> named = drop;
    named.erase(std::remove_if(named.begin(), named.end(), is_all), named.end());
    TRY(const std::set<std::string> dropped, parse_all(named));

    std::vector<std::string> remaining;
    for (const std::string_view name : capability_names) {
        const std::string key(name);
        if (!drops_all && added.contains(key) && !dropped.contains(key)) remaining.push_back(key);
    }
    return remaining;
}

}  // namespace coracle::policy

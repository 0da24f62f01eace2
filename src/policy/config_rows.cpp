// Implements the reading of one group of keys.
#include "policy/config_rows.hpp"

#include "base/did_you_mean.hpp"

namespace coracle::policy {

namespace {

using Kind = YamlValue::Kind;

Error invalid(std::string message, std::string hint = {}) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint));
}

Error unknown_key(const std::string& key, std::span<const ConfigRow> rows) {
    std::vector<std::string_view> known;
    for (const ConfigRow& row : rows) known.push_back(row.key);
    return invalid("unknown key", base::did_you_mean(key, known));
}

// "line 4: memory_limit: ..."; an error from further inside has its line already.
Error placed(Error error, const std::string& key, int line) {
    if (error.message.compare(0, 5, "line ") == 0) return error;
    return std::move(error).within("line " + std::to_string(line) + ": " + key);
}

Result<> set_key(const YamlMember& member, std::span<const ConfigRow> rows, Config& config) {
    for (const ConfigRow& row : rows) {
        if (row.key != member.key) continue;
        config.sources[member.key] = std::to_string(member.value.line);
        return row.set(member.value, config);
    }
    return unknown_key(member.key, rows);
}

}  // namespace

Result<> read_group(const YamlValue& map, std::span<const ConfigRow> rows, Config& config) {
    if (map.kind == Kind::null) return {};
    if (map.kind != Kind::map) return invalid("not a group of keys");
    for (const YamlMember& member : map.map) {
        auto done = set_key(member, rows, config);
        if (!done) return placed(std::move(done).error(), member.key, member.value.line);
    }
    return {};
}

Result<std::string> word_of(const YamlValue& value) {
    if (value.kind != Kind::scalar || value.scalar.empty()) return invalid("not a single word or number");
    return value.scalar;
}

Result<std::vector<std::string>> words_of(const YamlValue& value) {
    if (value.kind != Kind::list) return invalid("not a list", "write it like [one, two]");
    std::vector<std::string> words;
    for (const YamlValue& element : value.list) {
        TRY(std::string word, word_of(element));
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace coracle::policy

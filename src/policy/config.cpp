// Reads configuration files: one row a key.
#include "policy/config.hpp"

#include <array>
#include <span>

#include "base/did_you_mean.hpp"
#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/capabilities.hpp"
#include "policy/yaml.hpp"

namespace coracle::policy {

namespace {

using Kind = YamlValue::Kind;

Error invalid(std::string message, std::string hint = {}) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint));
}

Result<std::string> word_of(const YamlValue& value) {
    if (value.kind != Kind::scalar || value.scalar.empty()) return invalid("not a single word or number");
    return value.scalar;
}

// A scalar, through the parser of its unit.
template <class T>
Result<> read(const YamlValue& value, Result<T> (*parse)(std::string_view), std::optional<T>& target) {
    TRY(const std::string word, word_of(value));
    TRY(target, parse(word));
    return {};
}

Result<std::string> parse_word(std::string_view text) { return std::string(text); }

Result<bool> parse_bool(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return invalid("'" + std::string(text) + "' is neither true nor false");
}

struct NetworkWord {
    std::string_view name;
    NetworkMode mode;
};
constexpr std::array<NetworkWord, 4> network_words{{{"none", NetworkMode::none},
                                                    {"host", NetworkMode::host},
                                                    {"bridge", NetworkMode::bridge},
                                                    {"egress", NetworkMode::egress}}};

Result<NetworkMode> parse_network(std::string_view text) {
    std::vector<std::string_view> names;
    for (const NetworkWord& word : network_words) {
        if (word.name == text) return word.mode;
        names.push_back(word.name);
    }
    return invalid("'" + std::string(text) + "' is not a network mode",
                   base::did_you_mean(text, names, "write none, bridge, host or egress"));
}

Result<Ceilings::Above> parse_above(std::string_view text) {
    if (text == "clamp") return Ceilings::Above::clamp;
    if (text == "refuse") return Ceilings::Above::refuse;
    return invalid("'" + std::string(text) + "' is neither clamp nor refuse");
}

// coracle sets no_new_privileges on every run; a file may say so, but not the opposite.
Result<> check_no_new_privileges(const YamlValue& value, Config&) {
    std::optional<bool> wanted;
    TRY_OK(read(value, parse_bool, wanted));
    if (*wanted) return {};
    return invalid("coracle always sets no_new_privileges", "remove the line, or write true");
}

Result<> read_dropped(const YamlValue& value, Config& config) {
    if (value.kind != Kind::list) return invalid("not a list of capabilities");
    config.drop_capabilities.clear();
    for (const YamlValue& element : value.list) {
        TRY(const std::string word, word_of(element));
        if (word == "ALL" || word == "all") {
            config.drop_capabilities.push_back("ALL");
            continue;
        }
        TRY(std::string name, parse_capability(word));
        config.drop_capabilities.push_back(std::move(name));
    }
    return {};
}

struct Row {
    std::string_view key;
    Result<> (*set)(const YamlValue&, Config&);
};

Error unknown_key(const std::string& key, std::span<const Row> rows) {
    std::vector<std::string_view> known;
    for (const Row& row : rows) known.push_back(row.key);
    return invalid("unknown key", base::did_you_mean(key, known));
}

// "line 4: memory_limit: ..."; an error from further inside has its line already.
Error placed(Error error, const std::string& key, int line) {
    if (error.message.compare(0, 5, "line ") == 0) return error;
    return std::move(error).within("line " + std::to_string(line) + ": " + key);
}

Result<> set_key(const std::string& key, const YamlValue& value, std::span<const Row> rows, Config& config) {
    for (const Row& row : rows) {
        if (row.key == key) return row.set(value, config);
    }
    return unknown_key(key, rows);
}

Result<> read_map(const YamlValue& map, std::span<const Row> rows, Config& config) {
    if (map.kind == Kind::null) return {};
    if (map.kind != Kind::map) return invalid("not a group of keys");
    for (const auto& [key, value] : map.map) {
        auto done = set_key(key, value, rows, config);
        if (!done) return placed(std::move(done).error(), key, value.line);
    }
    return {};
}

constexpr std::array security_rows{
    Row{"read_only_root", [](const YamlValue& v, Config& c) { return read(v, parse_bool, c.read_only_root); }},
    Row{"no_new_privileges", check_no_new_privileges},
    Row{"drop_capabilities", read_dropped},
    Row{"seccomp", [](const YamlValue& v, Config& c) { return read(v, parse_word, c.seccomp); }},
};

Result<> set_above(const YamlValue& value, Config& config) {
    std::optional<Ceilings::Above> above;
    TRY_OK(read(value, parse_above, above));
    config.ceilings.above = *above;
    return {};
}

constexpr std::array resources_rows{
    Row{"max_memory", [](const YamlValue& v, Config& c) { return read(v, parse_bytes, c.ceilings.memory); }},
    Row{"max_cpu", [](const YamlValue& v, Config& c) { return read(v, parse_cpus, c.ceilings.cpus); }},
    Row{"max_storage", [](const YamlValue& v, Config& c) { return read(v, parse_bytes, c.ceilings.storage); }},
};

constexpr std::array sandbox_rows{
    Row{"default_image", [](const YamlValue& v, Config& c) { return read(v, parse_word, c.default_image); }},
    Row{"memory_limit", [](const YamlValue& v, Config& c) { return read(v, parse_bytes, c.memory); }},
    Row{"cpu_limit", [](const YamlValue& v, Config& c) { return read(v, parse_cpus, c.cpus); }},
    Row{"timeout", [](const YamlValue& v, Config& c) { return read(v, parse_duration, c.wall_time); }},
    Row{"network_mode", [](const YamlValue& v, Config& c) { return read(v, parse_network, c.network); }},
    Row{"runtime", [](const YamlValue& v, Config& c) { return read(v, parse_word, c.runtime); }},
    Row{"ceilings", set_above},
    Row{"security", [](const YamlValue& v, Config& c) { return read_map(v, security_rows, c); }},
    Row{"resources", [](const YamlValue& v, Config& c) { return read_map(v, resources_rows, c); }},
};

constexpr std::array top_rows{
    Row{"sandbox", [](const YamlValue& v, Config& c) { return read_map(v, sandbox_rows, c); }},
};

// "line 4: x" -> "config.yaml:4: x"
Error named(Error error, std::string_view file) {
    const bool has_line = error.message.compare(0, 5, "line ") == 0;
    error.message = std::string(file) + (has_line ? ":" + error.message.substr(5) : ": " + error.message);
    return error;
}

Result<Config> config_of(const std::string& text) {
    TRY(const YamlValue document, parse_yaml(text));
    Config config;
    TRY_OK(read_map(document, top_rows, config));
    return config;
}

template <class T>
void lay_over(std::optional<T>& lower, const std::optional<T>& upper) {
    if (upper) lower = upper;
}

}  // namespace

Result<Config> parse_config(const std::string& text, std::string_view file) {
    auto config = config_of(text);
    if (!config) return named(std::move(config).error(), file);
    return config;
}

Result<Config> read_config(const std::filesystem::path& path) {
    TRY(const std::string text, base::read_file(path, 1_MiB));
    return parse_config(text, path.string());
}

Config overlaid(const Config& lower, const Config& upper) {
    Config result = lower;
    lay_over(result.default_image, upper.default_image);
    lay_over(result.memory, upper.memory);
    lay_over(result.cpus, upper.cpus);
    lay_over(result.wall_time, upper.wall_time);
    lay_over(result.network, upper.network);
    lay_over(result.read_only_root, upper.read_only_root);
    lay_over(result.seccomp, upper.seccomp);
    lay_over(result.runtime, upper.runtime);
    // Both drops hold: a user's file must not give back what the administrator's took.
    result.drop_capabilities.insert(result.drop_capabilities.end(), upper.drop_capabilities.begin(),
                                    upper.drop_capabilities.end());
    return result;
}

}  // namespace coracle::policy

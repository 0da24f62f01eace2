// Reads configuration files, and lays them on each other: the section `sandbox` is here.
#include "policy/config.hpp"

#include <algorithm>
#include <array>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"
#include "policy/capabilities.hpp"
#include "policy/config_rows.hpp"

namespace coracle::policy {

namespace {

using Kind = YamlValue::Kind;

Error invalid(std::string message, std::string hint = {}) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint));
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
    TRY_OK(read_scalar(value, parse_bool, wanted));
    if (*wanted) return {};
    return invalid("coracle always sets no_new_privileges", "remove the line, or write true");
}

Result<> read_dropped(const YamlValue& value, Config& config) {
    TRY(const auto words, words_of(value));
    config.drop_capabilities.clear();
    for (const std::string& word : words) {
        const bool all = word == "ALL" || word == "all";
        TRY(std::string name, all ? Result<std::string>("ALL") : parse_capability(word));
        config.drop_capabilities.push_back(std::move(name));
    }
    return {};
}

constexpr std::array security_rows{
    ConfigRow{"read_only_root",
              [](const YamlValue& v, Config& c) { return read_scalar(v, parse_bool, c.read_only_root); }},
    ConfigRow{"no_new_privileges", check_no_new_privileges},
    ConfigRow{"drop_capabilities", read_dropped},
    ConfigRow{"seccomp", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_word, c.seccomp); }},
};

Result<> set_above(const YamlValue& value, Config& config) {
    std::optional<Ceilings::Above> above;
    TRY_OK(read_scalar(value, parse_above, above));
    config.ceilings.above = *above;
    return {};
}

constexpr std::array resources_rows{
    ConfigRow{"max_memory",
              [](const YamlValue& v, Config& c) { return read_scalar(v, parse_bytes, c.ceilings.memory); }},
    ConfigRow{"max_cpu", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_cpus, c.ceilings.cpus); }},
    ConfigRow{"max_storage",
              [](const YamlValue& v, Config& c) { return read_scalar(v, parse_bytes, c.ceilings.storage); }},
};

constexpr std::array sandbox_rows{
    ConfigRow{"default_image",
              [](const YamlValue& v, Config& c) { return read_scalar(v, parse_word, c.default_image); }},
    ConfigRow{"memory_limit", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_bytes, c.memory); }},
    ConfigRow{"cpu_limit", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_cpus, c.cpus); }},
    ConfigRow{"timeout", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_duration, c.wall_time); }},
    ConfigRow{"network_mode", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_network, c.network); }},
    ConfigRow{"runtime", [](const YamlValue& v, Config& c) { return read_scalar(v, parse_word, c.runtime); }},
    ConfigRow{"ceilings", set_above},
    ConfigRow{"security", [](const YamlValue& v, Config& c) { return read_group(v, security_rows, c); }},
    ConfigRow{"resources", [](const YamlValue& v, Config& c) { return read_group(v, resources_rows, c); }},
};

constexpr std::array top_rows{
    ConfigRow{"sandbox", [](const YamlValue& v, Config& c) { return read_group(v, sandbox_rows, c); }},
    ConfigRow{"images", read_images},
    ConfigRow{"registries", read_registries},
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
    TRY_OK(read_group(document, top_rows, config));
    return config;
}

template <class T>
void lay_over(std::optional<T>& lower, const std::optional<T>& upper) {
    if (upper) lower = upper;
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
}

void lay_over(RegistrySettings& lower, const RegistrySettings& upper) {
    if (!upper.search.empty()) lower.search = upper.search;
    if (!upper.plain_http.empty()) lower.plain_http = upper.plain_http;
    append(lower.blocked, upper.blocked);
    for (const auto& [key, places] : upper.mirrors) lower.mirrors[key] = places;
    lay_over(lower.certs_dir, upper.certs_dir);
}

bool is_ceiling(std::string_view key) {
    return key == "ceilings" || std::any_of(resources_rows.begin(), resources_rows.end(),
                                            [&](const ConfigRow& row) { return row.key == key; });
}

}  // namespace

Result<Config> parse_config(const std::string& text, std::string_view file) {
    auto config = config_of(text);
    if (!config) return named(std::move(config).error(), file);
    for (auto& [key, source] : config.value().sources) source = std::string(file) + ":" + source;
    return config;
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
    append(result.drop_capabilities, upper.drop_capabilities);
    for (const auto& [key, bound] : upper.images) result.images[key] = bound;
    lay_over(result.registries, upper.registries);
    for (const auto& [key, source] : upper.sources) {
        if (!is_ceiling(key)) result.sources[key] = source;
    }
    return result;
}

bool sets_ceilings(const Config& config) {
    return std::any_of(config.sources.begin(), config.sources.end(),
                       [](const auto& source) { return is_ceiling(source.first); });
}

}  // namespace coracle::policy

// Reads the sections `images` and `registries` of a configuration.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/did_you_mean.hpp"
#include "oci/reference.hpp"
#include "policy/config_rows.hpp"

namespace coracle::policy {

namespace {

using Kind = YamlValue::Kind;

Error invalid(std::string message, std::string hint = {}) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint));
}

Result<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t count = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && after == text.data() + text.size() && count > 0) return count;
    return invalid("'" + std::string(text) + "' is not a count", "write a whole number from 1 up");
}

Result<std::uint64_t> parse_bound(const ImageBound& bound, std::string_view text) {
    if (bound.bytes) {
        TRY(const Bytes size, parse_bytes(text));
        return size.count;
    }
    TRY(const std::uint64_t count, parse_count(text));
    // Each is a thread and a connection.
    if (bound.key != "parallel" || count <= 64) return count;
    return invalid("'" + std::string(text) + "' is too many", "write at most 64");
}

Result<> read_bound(const YamlMember& member, Config& config) {
    const auto bound = std::find_if(image_bounds.begin(), image_bounds.end(),
                                    [&](const ImageBound& known) { return known.key == member.key; });
    if (bound == image_bounds.end()) {
        std::vector<std::string_view> keys;
        for (const ImageBound& known : image_bounds) keys.push_back(known.key);
        return invalid("unknown key", base::did_you_mean(member.key, keys));
    }
    TRY(const std::string word, word_of(member.value));
    TRY(config.images[member.key], parse_bound(*bound, word));
    return {};
}

Result<> check_registry(const std::string& name) {
    if (oci::is_registry(name)) return {};
    return invalid("'" + name + "' is not a registry", "write HOST or HOST:PORT, such as registry.example:5000");
}

Result<std::vector<std::string>> registries_of(const YamlValue& value) {
    TRY(auto names, words_of(value));
    for (const std::string& name : names) TRY_OK(check_registry(name));
    return names;
}

template <auto list>
Result<> set_registries(const YamlValue& value, Config& config) {
    TRY(config.registries.*list, registries_of(value));
    return {};
}

Result<> set_mirrors(const YamlValue& value, Config& config) {
    if (value.kind != Kind::map)
        return invalid("not a group of registries", "write it like {docker.io: [mirror.example]}");
    for (const YamlMember& member : value.map) {
        TRY_OK(check_registry(member.key));
        TRY(config.registries.mirrors[member.key], registries_of(member.value).within(member.key));
    }
    return {};
}

Result<> set_certs_dir(const YamlValue& value, Config& config) {
    TRY(const std::string path, word_of(value));
    if (!path.starts_with('/')) return invalid("'" + path + "' is not an absolute path");
    config.registries.certs_dir = path;
    return {};
}

constexpr std::array registries_rows{
    ConfigRow{"search", set_registries<&RegistrySettings::search>},
    ConfigRow{"plain_http", set_registries<&RegistrySettings::plain_http>},
    ConfigRow{"blocked", set_registries<&RegistrySettings::blocked>},
    ConfigRow{"mirrors", set_mirrors},
    ConfigRow{"certs_dir", set_certs_dir},
};

}  // namespace

Result<> read_images(const YamlValue& value, Config& config) {
    if (value.kind == Kind::null) return {};
    if (value.kind != Kind::map) return invalid("not a group of keys");
    for (const YamlMember& member : value.map) {
        auto done = read_bound(member, config);
        if (!done) {
            return std::move(done).error().within("line " + std::to_string(member.value.line) + ": " + member.key);
        }
    }
    return {};
}

Result<> read_registries(const YamlValue& value, Config& config) { return read_group(value, registries_rows, config); }

}  // namespace coracle::policy

// Implements the parsing of option values.
#include "cli/values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/try.hpp"

namespace coracle::cli {

namespace {

Error bad(std::string_view text, std::string_view why, std::string hint) {
    return make_error(ErrorCode::invalid_request, "'" + std::string(text) + "' " + std::string(why), std::move(hint));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t start = 0;;) {
        const std::size_t end = text.find(separator, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return parts;
        start = end + 1;
    }
}

template <class Value>
struct Word {
    std::string_view name;
    Value value;
};

// The value that `text` names, or an Error that lists the names.
template <class Value, std::size_t N>
Result<Value> choose(std::string_view text, const std::array<Word<Value>, N>& words) {
    std::string names;
    for (const auto& word : words) {
        if (word.name == text) return word.value;
        names += (names.empty() ? "" : ", ") + std::string(word.name);
    }
    return bad(text, "is not one of the known words", "use one of: " + names);
}

// A normal absolute path below the root of the sandbox.
Result<std::string> guest_path(std::string_view text) {
    if (!text.starts_with('/')) {
        return bad(text, "is not an absolute path", "name the place in the sandbox from its root, such as /data");
    }
    auto path = std::filesystem::path(text).lexically_normal();
    if (path.has_relative_path() && !path.has_filename()) path = path.parent_path();
    return path.string();
}

Result<std::string> mount_point(std::string_view text) {
    if (std::filesystem::path(text).lexically_normal() == "/") {
        return bad(text, "is the root of the sandbox", "mount below it, such as /data");
    }
    return guest_path(text);
}

}  // namespace

Result<Volume> parse_volume(std::string_view text) {
    constexpr std::string_view form = "write HOST:GUEST, HOST:GUEST:ro or HOST:GUEST:rw";
    constexpr std::array<Word<bool>, 2> modes{{{"ro", true}, {"rw", false}}};
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3 || parts[0].empty())
        return bad(text, "is not a volume", std::string(form));
    Volume volume{.host = std::string(parts[0]), .guest = {}, .read_only = false};
    TRY(volume.guest, mount_point(parts[1]));
    if (parts.size() == 3) {
        TRY(volume.read_only, choose(parts[2], modes));
    }
    return volume;
}

namespace {

Result<> apply_tmpfs_option(Tmpfs& tmpfs, std::string_view option) {
    if (option.starts_with("size=")) {
        TRY(tmpfs.size, parse_bytes(option.substr(5)));
    } else if (option.starts_with("inodes=")) {
        TRY(tmpfs.inodes, parse_count(option.substr(7)));
    } else if (option == "exec" || option == "noexec") {
        tmpfs.executable = option == "exec";
    } else if (option != "rw" && option != "nosuid" && option != "nodev") {  // these three hold for every tmpfs
        return bad(option, "is not a tmpfs option", "use size=SIZE, inodes=N, exec or noexec");
    }
    return {};
}

}  // namespace

Result<Tmpfs> parse_tmpfs(std::string_view text) {
    Tmpfs tmpfs;
    const std::size_t colon = std::min(text.find(':'), text.size());
    TRY(tmpfs.guest, mount_point(text.substr(0, colon)));
    if (colon == text.size()) return tmpfs;
    for (const auto option : split(text.substr(colon + 1), ',')) TRY_OK(apply_tmpfs_option(tmpfs, option));
    return tmpfs;
}

namespace {

Result<> apply_io_rate(IoMax& rates, std::string_view option) {
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view value = option.substr(std::min(equals + 1, option.size()));
    constexpr std::array<Word<std::optional<std::uint64_t> IoMax::*>, 4> words{
        {{"rbps", &IoMax::rbps}, {"wbps", &IoMax::wbps}, {"riops", &IoMax::riops}, {"wiops", &IoMax::wiops}}};
    TRY(const auto field, choose(option.substr(0, equals), words));
    if (field == &IoMax::rbps || field == &IoMax::wbps) {
        TRY(const Bytes bytes, parse_bytes(value));
        rates.*field = bytes.count;
    } else {
        TRY(rates.*field, parse_count(value));
    }
    return {};
}

}  // namespace

Result<IoMax> parse_io_max(std::string_view text) {
    const std::size_t colon = text.rfind(':');  // a device may be written as 8:0
    if (colon == std::string_view::npos || colon == 0) {
        return bad(text, "is not a limit of a device", "write DEVICE:rbps=1m,wbps=1m,riops=100,wiops=100");
    }
    IoMax rates{.device = std::string(text.substr(0, colon))};
    for (const auto option : split(text.substr(colon + 1), ',')) TRY_OK(apply_io_rate(rates, option));
    return rates;
}

Result<NetworkMode> parse_network(std::string_view text) {
    constexpr std::array<Word<NetworkMode>, 4> modes{{{"none", NetworkMode::none},
                                                      {"host", NetworkMode::host},
                                                      {"bridge", NetworkMode::bridge},
                                                      {"egress", NetworkMode::egress}}};
    return choose(text, modes);
}

Result<PullPolicy> parse_pull(std::string_view text) {
    constexpr std::array<Word<PullPolicy>, 3> policies{
        {{"missing", PullPolicy::missing}, {"always", PullPolicy::always}, {"never", PullPolicy::never}}};
    return choose(text, policies);
}

Result<OutputExcess> parse_output_excess(std::string_view text) {
    constexpr std::array<Word<OutputExcess>, 3> words{
        {{"truncate", OutputExcess::truncate}, {"kill", OutputExcess::kill}, {"discard", OutputExcess::discard}}};
    return choose(text, words);
}

Result<int> parse_signal(std::string_view text) {
    int number = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && after == text.data() + text.size() && number > 0 && number < NSIG) return number;
    std::string name(text);
    for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (name.starts_with("SIG")) name.erase(0, 3);
    for (number = 1; number < NSIG; ++number) {
        const char* const known = ::sigabbrev_np(number);
        if (known != nullptr && name == known) return number;
    }
    return bad(text, "is not a signal", "write it like TERM, SIGUSR1 or 9");
}

Result<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t count = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && after == text.data() + text.size() && count > 0) return count;
    return bad(text, "is not a count", "write a whole number from 1 up, such as 64");
}

Result<std::vector<std::string>> parse_list(std::string_view text) {
    std::vector<std::string> words;
    for (const auto word : split(text, ',')) {
        if (word.empty()) return bad(text, "has an empty word", "separate the words by single commas");
        words.emplace_back(word);
    }
    return words;
}

Result<std::vector<std::string>> parse_required(std::string_view text) {
    constexpr std::array<std::string_view, 4> known{"memory", "cpus", "pids", "all"};
    TRY(auto words, parse_list(text));
    for (const auto& word : words) {
        if (std::find(known.begin(), known.end(), word) == known.end()) {
            return bad(word, "is not a limit that can be required",
                       "use memory, cpus, pids or all, separated by commas");
        }
    }
    return words;
}

Result<std::string> parse_guest_dir(std::string_view text) { return guest_path(text); }

Result<std::optional<EnvVar>> parse_env(std::string_view text, const Lookup& lookup) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (name.empty()) return bad(text, "names no variable", "write NAME=value, or NAME to pass on your own value");
    if (equals != std::string_view::npos) {
        return std::optional(EnvVar{.name = name, .value = std::string(text.substr(equals + 1))});
    }
    auto value = lookup(name);
    if (!value) return std::optional<EnvVar>();
    return std::optional(EnvVar{.name = name, .value = *std::move(value)});
}

Result<std::vector<EnvVar>> parse_env_file(std::string_view content, const Lookup& lookup) {
    if (content.find('\0') != std::string_view::npos) {
        return make_error(ErrorCode::invalid_request, "holds a zero byte", "write a text of NAME=value lines");
    }
    std::vector<EnvVar> variables;
    std::size_t number = 0;
    for (auto line : split(content, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        TRY(auto variable, parse_env(line, lookup).within("line " + std::to_string(number)));
        if (variable) variables.push_back(*std::move(variable));
    }
    return variables;
}

}  // namespace coracle::cli

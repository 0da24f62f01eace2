// Implements the judgement of entry names.
#include "layer/entry_path.hpp"

#include <vector>

#include "base/try.hpp"

namespace coracle::layer {

namespace {

constexpr std::string_view whiteout_prefix = ".wh.";
constexpr std::string_view aufs_prefix = ".wh..wh.";
constexpr std::string_view opaque_name = ".wh..wh..opq";
constexpr std::size_t longest_name = 255;  // NAME_MAX

Error refused(std::string_view path, std::string_view why) {
    return make_error(ErrorCode::corrupt, "entry '" + printable(path) + "': " + std::string(why));
}

Result<std::vector<std::string_view>> components_of(std::string_view path, const Limits& limits) {
    if (path.size() > limits.path_bytes) {
        return limit_exceeded("the path of '" + printable(path) + "'", Bytes{limits.path_bytes}, "max_path");
    }
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        const std::string_view part = path.substr(at, slash - at);
        at = slash + 1;
        if (part.empty() || part == ".") continue;
        if (part == "..") return refused(path, "'..' could lead out of the root");
        if (part.size() > longest_name) return refused(path, "a name exceeds the limit of 255 bytes");
        parts.push_back(part);
    }
    if (parts.size() > limits.path_depth) {
        return limit_exceeded("the depth of '" + printable(path) + "'", limits.path_depth, "max_path_depth");
    }
    return parts;
}

Result<EntryPath> as_whiteout(std::string_view path, EntryPath entry) {
    if (entry.name == opaque_name) {
        entry.role = Role::opaque;
    } else if (entry.name.starts_with(aufs_prefix)) {
        entry.role = Role::ignored;
    } else {
        entry.role = Role::whiteout;
        entry.name.erase(0, whiteout_prefix.size());
        if (entry.name.empty() || entry.name == "." || entry.name == "..")
            return refused(path, "a whiteout of nothing");
    }
    return entry;
}

}  // namespace

Result<EntryPath> parse_entry_path(std::string_view path, const Limits& limits) {
    TRY(const auto parts, components_of(path, limits));
    if (parts.empty()) return EntryPath{Role::root, "", ""};
    EntryPath entry;
    for (std::size_t at = 0; at + 1 < parts.size(); ++at) {
        if (parts[at].starts_with(aufs_prefix)) return EntryPath{Role::ignored, "", ""};
        if (parts[at].starts_with(whiteout_prefix)) return refused(path, "a whiteout cannot be a directory");
        entry.parent += (at == 0 ? "" : "/") + std::string(parts[at]);
    }
    entry.name = parts.back();
    if (entry.name.starts_with(whiteout_prefix)) return as_whiteout(path, std::move(entry));
    return entry;
}

std::string printable(std::string_view name) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t longest = 160;
    std::string text;
    for (const char c : name.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            text += c;
        } else {
            text += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return name.size() > longest ? text + "..." : text;
}

}  // namespace coracle::layer

// Implements the look-up in passwd(5) and group(5) texts.
#include "plan/identity.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/try.hpp"

namespace coracle::plan {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // The last id means "no change" to the kernel (setuid(2)).
    if (error != std::errc() || end != text.data() + text.size() || value == ~0U) return std::nullopt;
    return value;
}

struct PasswdLine {
    std::string_view name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::string_view home;
};

struct GroupLine {
    std::string_view name;
    gid_t gid = 0;
    std::vector<std::string_view> members;
};

std::optional<PasswdLine> passwd_line(std::string_view line) {
    const auto fields = split(line, ':');
    if (fields.size() < 6) return std::nullopt;
    const auto uid = number(fields[2]);
    const auto gid = number(fields[3]);
    if (!uid || !gid) return std::nullopt;
    return PasswdLine{.name = fields[0], .uid = *uid, .gid = *gid, .home = fields[5]};
}

std::optional<GroupLine> group_line(std::string_view line) {
    const auto fields = split(line, ':');
    if (fields.size() < 4) return std::nullopt;
    const auto gid = number(fields[2]);
    if (!gid) return std::nullopt;
    return GroupLine{.name = fields[0], .gid = *gid, .members = split(fields[3], ',')};
}

// A name wins over a number: a user may be called "1000".
template <class Line, class Parse, class Id>
std::optional<Line> find_line(std::string_view text, std::string_view wanted, Parse parse, Id id) {
    std::optional<Line> by_number;
    const auto wanted_number = number(wanted);
    for (const std::string_view line : split(text, '\n')) {
        const auto parsed = parse(line);
        if (!parsed) continue;
        if (parsed->name == wanted) return parsed;
        if (wanted_number && id(*parsed) == *wanted_number && !by_number) by_number = parsed;
    }
    return by_number;
}

std::optional<PasswdLine> find_user(std::string_view passwd, std::string_view wanted) {
    return find_line<PasswdLine>(passwd, wanted, passwd_line, [](const PasswdLine& line) { return line.uid; });
}

std::optional<GroupLine> find_group(std::string_view group, std::string_view wanted) {
    return find_line<GroupLine>(group, wanted, group_line, [](const GroupLine& line) { return line.gid; });
}

std::vector<gid_t> supplementary(std::string_view group, std::string_view user, gid_t primary) {
    std::vector<gid_t> gids;
    // A bare uid has no name, and "" would be the member of every group that has none.
    if (user.empty()) return gids;
    for (const std::string_view line : split(group, '\n')) {
        const auto parsed = group_line(line);
        if (!parsed || parsed->gid == primary) continue;
        const bool member = std::find(parsed->members.begin(), parsed->members.end(), user) != parsed->members.end();
        if (member && std::find(gids.begin(), gids.end(), parsed->gid) == gids.end()) gids.push_back(parsed->gid);
    }
    return gids;
}

Error unknown(std::string_view kind, std::string_view name) {
    return make_error(ErrorCode::not_found,
                      "unknown " + std::string(kind) + " '" + std::string(name) + "' in the image",
                      "give a numeric id, or a name that the image's /etc/passwd and /etc/group know");
}

}  // namespace

Result<ResolvedUser> resolve_user(std::string_view spec, std::string_view passwd, std::string_view group) {
    const std::size_t colon = spec.find(':');
    const std::string_view user_part = spec.substr(0, colon).empty() ? "0" : spec.substr(0, colon);
    ResolvedUser user;
    if (const auto line = find_user(passwd, user_part)) {
        user.identity.uid = line->uid;
        user.identity.gid = line->gid;
        user.name = line->name;
        if (!line->home.empty()) user.home = line->home;
    } else if (const auto uid = number(user_part)) {
        user.identity.uid = *uid;
    } else {
        return unknown("user", user_part);
    }
    if (colon == std::string_view::npos) {
        user.identity.additional_gids = supplementary(group, user.name, user.identity.gid);
        return user;
    }
    const std::string_view group_part = spec.substr(colon + 1);
    if (const auto line = find_group(group, group_part)) {
        user.identity.gid = line->gid;
    } else if (const auto gid = number(group_part)) {
        user.identity.gid = *gid;
    } else {
        return unknown("group", group_part);
    }
    return user;
}

std::string passwd_with(std::string_view passwd, const ResolvedUser& user, std::string_view home) {
    std::string text(passwd);
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += "sandbox:x:" + std::to_string(user.identity.uid) + ":" + std::to_string(user.identity.gid) +
            ":sandbox:" + std::string(home) + ":/bin/sh\n";
    return text;
}

std::string group_with(std::string_view group, gid_t gid) {
    std::string text(group);
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (!find_group(group, std::to_string(gid))) text += "sandbox:x:" + std::to_string(gid) + ":\n";
    return text;
}

}  // namespace coracle::plan

// Implements the reading of subordinate id ranges.
#include "host/subids.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace coracle::host {

namespace {

std::string_view take_until(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

template <class T>
bool parse_number(std::string_view text, T& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

std::string_view login_name(std::string_view passwd, uid_t uid) {
    while (!passwd.empty()) {
        std::string_view line = take_until(passwd, '\n');
        const std::string_view name = take_until(line, ':');
        take_until(line, ':');
        uid_t number = 0;
        if (parse_number(take_until(line, ':'), number) && number == uid) return name;
    }
    return {};
}

}  // namespace

std::vector<SubRange> sub_ranges(std::string_view subid_text, std::string_view passwd, uid_t uid) {
    const std::string_view name = login_name(passwd, uid);
    const std::string number = std::to_string(uid);
    std::vector<SubRange> ranges;
    while (!subid_text.empty()) {
        std::string_view line = take_until(subid_text, '\n');
        const std::string_view owner = take_until(line, ':');
        if (owner.empty() || (owner != name && owner != number)) continue;
        SubRange range;
        if (parse_number(take_until(line, ':'), range.start) && parse_number(line, range.count) && range.count > 0) {
            ranges.push_back(range);
        }
    }
    return ranges;
}

}  // namespace coracle::host

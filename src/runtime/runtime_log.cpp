// Implements the reading of the runtime's JSON log.
#include "runtime/runtime_log.hpp"

#include <nlohmann/json.hpp>

namespace coracle::runtime {

namespace {

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// The "msg" of an entry of level error or worse.
std::string message_of(std::string_view line) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("msg") || !entry["msg"].is_string()) return {};
    const std::string level = entry.contains("level") && entry["level"].is_string() ? entry["level"] : "error";
    return level == "error" || level == "fatal" || level == "panic" ? entry["msg"].get<std::string>() : std::string();
}

}  // namespace

std::string runtime_words(std::string_view log, std::string_view error_text) {
    std::string words;
    while (!log.empty()) {
        const std::string message = message_of(take_line(log));
        if (!message.empty()) words += (words.empty() ? "" : "; ") + message;
    }
    if (words.empty()) words = std::string(take_line(error_text));
    constexpr std::size_t most = 2000;
    return words.substr(0, most);
}

}  // namespace coracle::runtime

// Implements the parsing of cgroup counter files.
#include "cgroup/counters.hpp"

#include <charconv>

#include "base/files.hpp"

namespace coracle::cgroup {

namespace {

std::optional<std::string> text_of(int dir_fd, const std::string& file) {
    auto text = base::read_file_at(dir_fd, file, 1_MiB);
    if (!text) return std::nullopt;
    return std::move(text).value();
}

std::optional<std::uint64_t> number_at(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// The sum of the numbers that follow `marker` in the lines of a file; 0 for an empty file: nothing was counted.
std::optional<std::uint64_t> sum_after(int dir_fd, const std::string& file, std::string_view marker) {
    const auto text = text_of(dir_fd, file);
    if (!text) return std::nullopt;
    std::uint64_t sum = 0;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        const std::size_t at = line.find(marker);
        if (at != std::string_view::npos) sum += number_at(line.substr(at + marker.size())).value_or(0);
    }
    return sum;
}

}  // namespace

std::optional<std::uint64_t> read_number(int dir_fd, const std::string& file) {
    const auto text = text_of(dir_fd, file);
    return text ? number_at(*text) : std::nullopt;
}

std::optional<std::uint64_t> read_keyed(int dir_fd, const std::string& file, std::string_view key) {
    const auto text = text_of(dir_fd, file);
    if (!text) return std::nullopt;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
            return number_at(line.substr(key.size() + 1));
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> read_io_stat(int dir_fd, std::string_view key) {
    return sum_after(dir_fd, "io.stat", " " + std::string(key) + "=");
}

std::optional<std::uint64_t> read_blkio(int dir_fd, std::string_view direction) {
    return sum_after(dir_fd, "blkio.throttle.io_service_bytes", " " + std::string(direction) + " ");
}

}  // namespace coracle::cgroup

// Implements the sums over /proc.
#include "supervisor/memory_sample.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

#include "base/files.hpp"

namespace coracle::supervisor {

namespace {

std::filesystem::path folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::string text_of(const std::filesystem::path& path) {
    auto text = base::read_file(path, 64_KiB);
    return text ? std::move(text).value() : std::string();
}

// Calls `each` with every number of a text of numbers between blanks.
template <class Each>
void for_each_number(std::string_view text, Each each) {
    while (!text.empty()) {
        pid_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc()) each(number);
        const std::size_t blank = text.find(' ');
        text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
    }
}

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t digits = text.find_first_of("0123456789", at + key.size());
    std::uint64_t number = 0;
    if (digits == std::string_view::npos) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::uint64_t resident_of(pid_t pid) {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::string text = text_of(folder_of(pid) / "statm");  // "size resident shared ..."
    return number_behind(text, " ").value_or(0) * page;
}

std::uint64_t proportional_of(pid_t pid) {
    const auto kib = number_behind(text_of(folder_of(pid) / "smaps_rollup"), "\nPss:");
    return kib ? *kib << 10U : resident_of(pid);
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
    std::vector<pid_t> found{root};
    for (std::size_t at = 0; at < found.size(); ++at) {
        std::error_code gone;  // a process may end at any moment
        std::filesystem::directory_iterator thread(folder_of(found[at]) / "task", gone);
        for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone)) {
            for_each_number(text_of(thread->path() / "children"), [&found](pid_t child) { found.push_back(child); });
        }
    }
    return found;
}

Bytes resident(const std::vector<pid_t>& processes) {
    Bytes sum;
    for (const pid_t pid : processes) sum.count += resident_of(pid);
    return sum;
}

Bytes proportional(const std::vector<pid_t>& processes) {
    Bytes sum;
    for (const pid_t pid : processes) sum.count += proportional_of(pid);
    return sum;
}

bool MemoryWatch::look() {
    const std::vector<pid_t> processes = process_tree(root_);
    // The right sum can only be a new peak where the cheap one is above the old.
    if (resident(processes) <= peak_) return false;
    const Bytes held = proportional(processes);
    peak_ = std::max(peak_, held);
    return held > limit_;
}

}  // namespace coracle::supervisor

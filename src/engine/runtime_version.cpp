// Implements the question and the cached answer.
#include "engine/runtime_version.hpp"

#include <sys/stat.h>

#include <chrono>

#include "base/files.hpp"
#include "base/program.hpp"

namespace coracle::engine {

namespace {

// What changes when the program is replaced.
std::string fingerprint(const std::filesystem::path& program) {
    struct stat status {};
    if (::stat(program.c_str(), &status) != 0) return {};
    return program.string() + " " + std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
           std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

std::string first_number(std::string_view text) {
    const std::size_t line = text.find('\n');
    text = text.substr(0, line);
    const std::size_t begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_first_of(" ,\t", begin) - begin));
}

std::string output_of(const std::filesystem::path& program) {
    const auto end = base::run_program({.argv = {program.string(), "--version"},
                                        .input = {},
                                        .inherit_env = false,
                                        .most_output = 4_KiB,
                                        .patience = std::chrono::seconds(2)});
    return end ? end.value().output : std::string();
}

}  // namespace

std::string runtime_version(const std::filesystem::path& store, const std::filesystem::path& program) {
    const std::string mark = fingerprint(program) + "\n";
    const std::filesystem::path folder = store / "runtimes";
    const std::string name = program.filename().string();
    if (const auto known = base::read_file(folder / name, Bytes{4096}); known && known.value().starts_with(mark)) {
        return known.value().substr(mark.size());
    }
    std::string version = first_number(output_of(program));
    // A store that cannot be written to only costs the question again.
    if (!version.empty() && base::make_dirs(folder)) {
        if (const auto dir = base::open_dir(folder)) {
            (void)base::replace_file_at(dir.value().get(), name, mark + version, base::Durability::cache);
        }
    }
    return version;
}

}  // namespace coracle::engine

// Implements the question and the cached answer.
#include "engine/runtime_version.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/files.hpp"

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
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    base::UniqueFd read(ends[0]);
    base::UniqueFd write(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, write.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::array<std::string, 2> words{program.string(), "--version"};
    std::array<char*, 3> argv{words[0].data(), words[1].data(), nullptr};
    std::array<char*, 1> env{nullptr};
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), env.data());
    ::posix_spawn_file_actions_destroy(&actions);
    write.reset();
    if (failed != 0) return {};
    pollfd wait{read.get(), POLLIN, 0};
    std::string text;
    if (::poll(&wait, 1, 2000) > 0) {
        std::array<char, 512> buffer{};
        const ssize_t got = ::read(read.get(), buffer.data(), buffer.size());
        if (got > 0) text.assign(buffer.data(), static_cast<std::size_t>(got));
    } else {
        ::kill(pid, SIGKILL);
    }
    read.reset();
    ::waitpid(pid, nullptr, 0);
    return text;
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

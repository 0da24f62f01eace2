// Implements the start of coracle-image.
#include "image_program/client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/ending_signal.hpp"
#include "base/files.hpp"
#include "base/try.hpp"

extern char** environ;

namespace coracle::image_program {

namespace {

constexpr const char* program_name = "coracle-image";
constexpr std::size_t longest_line = std::size_t{16} << 20U;

struct Pipe {
    base::UniqueFd read;
    base::UniqueFd write;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("pipe", errno);
    return Pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

// A socket, since a pipe whose reader is gone kills the writer by SIGPIPE, which is the caller's to handle, not ours.
Result<Pipe> make_input() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return os_error("socketpair", errno);
    return Pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

void send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

// Ends the child when it is left alone with it.
class Child {
public:
    explicit Child(pid_t pid) : pid_(pid) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        (void)wait();
    }
    int wait() {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_;
};

// posix_spawn: nothing of ours runs between fork and exec, and everything else of ours is close-on-exec.
Result<pid_t> spawn(const std::filesystem::path& program, int in, int out, std::optional<int> stream) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    // Upwards of 100 first: what is duplicated must not stand where something is put.
    if (stream) ::posix_spawn_file_actions_adddup2(&actions, *stream, 100);
    ::posix_spawn_file_actions_adddup2(&actions, in, 101);
    ::posix_spawn_file_actions_adddup2(&actions, out, 102);
    ::posix_spawn_file_actions_adddup2(&actions, 101, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, 102, STDOUT_FILENO);
    if (stream) ::posix_spawn_file_actions_adddup2(&actions, 100, stream_fd);
    for (const int fd : {100, 101, 102}) {
        if (fd != 100 || stream) ::posix_spawn_file_actions_addclose(&actions, fd);
    }
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string name = program.string();
    std::array<char*, 2> argv{name.data(), nullptr};
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, name.c_str(), &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return os_error("run '" + name + "'", failed);
    return pid;
}

// What the dynamic loader exits with where a library is missing (ld.so(8) says so on stderr), and shells for no
// program.
constexpr int cannot_start = 127;

Error not_started(const std::filesystem::path& program) {
    Error error = make_error(ErrorCode::unavailable, "'" + program.string() + "' cannot be started",
                             "install what it needs: apt-get install libcurl4 libisal2");
    error.os_errno = ENOEXEC;
    return error;
}

// Lines from a pipe, until the caller's signal.
class Lines {
public:
    Lines(int fd, int cancel_fd) : fd_(fd), cancel_fd_(cancel_fd) {}

    // No value: the end.
    Result<std::optional<std::string>> next() {
        for (;;) {
            if (const std::size_t end = text_.find('\n', scanned_); end != std::string::npos) {
                std::string line = text_.substr(0, end);
                text_.erase(0, end + 1);
                scanned_ = 0;
                return std::optional<std::string>(std::move(line));
            }
            scanned_ = text_.size();
            if (scanned_ > longest_line) return make_error(ErrorCode::internal, "coracle-image: an endless line");
            TRY_OK(wait());
            std::array<char, 4096> buffer{};
            const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return os_error("read from coracle-image", errno);
            if (got == 0) return std::optional<std::string>();
            text_.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }

private:
    Result<> wait() {
        for (;;) {
            std::array<pollfd, 2> waits{{{fd_, POLLIN, 0}, {cancel_fd_, POLLIN, 0}}};
            if (::poll(waits.data(), waits.size(), -1) < 0) {
                if (errno == EINTR) continue;
                return os_error("poll", errno);
            }
            if (waits[1].revents != 0) TRY_OK(heed_signal());
            if (waits[0].revents != 0) return {};
        }
    }

    Result<> heed_signal() {
        unsigned char number = 0;
        const ssize_t got = ::read(cancel_fd_, &number, 1);
        if (got == 0) cancel_fd_ = -1;  // no signal can come from there any more
        if (got != 1 || !base::asks_for_the_end(number)) return {};
        Error cancelled = make_error(ErrorCode::unavailable, "ended by the caller's signal");
        cancelled.os_errno = ECANCELED;
        return cancelled;
    }

    int fd_;
    int cancel_fd_;
    std::string text_;
    std::size_t scanned_ = 0;
};

Result<std::optional<Answer>> listen(Lines lines, const OnEvent& on_event) {
    for (;;) {
        TRY(const auto line, lines.next());
        if (!line) return std::optional<Answer>();
        TRY(Message message, parse_message(*line));
        if (auto* const error = std::get_if<Error>(&message)) return std::move(*error);
        if (auto* const images = std::get_if<Answer>(&message)) return std::optional<Answer>(std::move(*images));
        if (on_event) on_event(std::get<PullEvent>(message));
    }
}

}  // namespace

std::optional<std::filesystem::path> find_program() {
    std::error_code problem;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
    if (problem) return std::nullopt;
    const auto folder = self.parent_path();
    for (const auto& path : {folder / program_name, folder.parent_path() / "libexec/coracle" / program_name}) {
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return std::nullopt;
}

Result<Answer> run_program(const std::filesystem::path& program, const std::string& request, std::optional<int> stream,
                           const OnEvent& on_event, int cancel_fd) {
    TRY(Pipe in, make_input());
    TRY(Pipe out, make_pipe());
    TRY(const pid_t pid, spawn(program, in.read.get(), out.write.get(), stream));
    Child child(pid);
    in.read.reset();
    out.write.reset();
    // Its standard input stays open: the program takes the end of it for our death. How a program fares that does not
    // listen, its end tells.
    send_all(in.write.get(), request);
    TRY(auto answer, listen(Lines(out.read.get(), cancel_fd), on_event));
    if (answer) {
        child.wait();
        return std::move(*answer);
    }
    const int status = child.wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == cannot_start) return not_started(program);
    const std::string end = WIFSIGNALED(status) ? "was killed by signal " + std::to_string(WTERMSIG(status))
                                                : "ended with " + std::to_string(WEXITSTATUS(status));
    return make_error(ErrorCode::unavailable, "'" + program.string() + "' " + end + " before it was done",
                      "try again; what it left is swept");
}

}  // namespace coracle::image_program

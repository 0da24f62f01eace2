// Implements the child: one line of JSON on its stdin, which stays open as long as we live, lines on its stdout.
#include "handoff/image_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/try.hpp"
#include "base/unique_fd.hpp"
#include "handoff/pull_job.hpp"

namespace coracle::handoff {

namespace {

namespace fs = std::filesystem;

constexpr const char* name = "coracle-image";
constexpr std::size_t longest_line = 8U << 20U;

// The child, reaped or killed at the end.
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
    // As waitpid(2) gives it; -1 where the caller's process reaps children by itself.
    int wait() {
        int status = -1;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_;
};

struct Ends {
    base::UniqueFd ours;
    base::UniqueFd theirs;
};

// A socket, not a pipe: writing to a child that is gone is an Error then and no signal.
Result<Ends> make_input() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return os_error("socketpair", errno);
    return Ends{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

Result<Ends> make_output() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("pipe", errno);
    return Ends{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

// posix_spawn does not copy the caller's memory, and its child runs nothing of ours before exec.
Result<pid_t> spawn(const fs::path& program, int input, int output) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);  // an embedding program may have left some inheritable
    std::string path = program.string();
    std::array<char*, 2> argv{path.data(), nullptr};
    pid_t pid = -1;
    const int problem = ::posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) return os_error("start '" + path + "'", problem);
    return pid;
}

Result<> send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return os_error("hand over the job", errno);
        if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

// Calls `take` with each line until the end.
Result<> read_lines(int fd, const std::function<void(const std::string&)>& take) {
    std::string pending;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return os_error("read", errno);
        if (got == 0) return {};
        pending.append(buffer.data(), static_cast<std::size_t>(got));
        for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
            take(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
        if (pending.size() > longest_line) return make_error(ErrorCode::internal, "a line without end");
    }
}

Error ended_without_word(int status) {
    const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                : "status " + std::to_string(WEXITSTATUS(status));
    return make_error(ErrorCode::internal, "it ended by " + how + " without an answer");
}

Result<oci::Json> ask(const fs::path& program, const oci::Json& job,
                      const std::function<void(const oci::Json&)>& on_line) {
    TRY(Ends input, make_input());
    TRY(Ends output, make_output());
    TRY(const pid_t pid, spawn(program, input.theirs.get(), output.theirs.get()));
    Child child(pid);
    input.theirs.reset();
    output.theirs.reset();
    TRY_OK(send_all(input.ours.get(), job.dump(-1, ' ', false, oci::Json::error_handler_t::replace) + "\n"));
    std::optional<oci::Json> answer;
    TRY_OK(read_lines(output.ours.get(), [&](const std::string& text) {
        const oci::Json line = oci::Json::parse(text, nullptr, false);
        if (!line.is_object()) return;
        if (line.contains("images") || line.contains("error")) {
            answer = line;
        } else {
            on_line(line);
        }
    }));
    const int status = child.wait();
    if (!answer) return ended_without_word(status);
    return std::move(*answer);
}

}  // namespace

Result<fs::path> find_image_program(const std::optional<fs::path>& configured) {
    if (configured) return *configured;
    std::error_code problem;
    const fs::path self = fs::read_symlink("/proc/self/exe", problem);
    for (const fs::path& path : {self.parent_path() / name, self.parent_path() / "../libexec/coracle" / name}) {
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return make_error(ErrorCode::unsupported, std::string("the program ") + name + " is not installed",
                      "put it beside coracle or into libexec/coracle; without it images come in by: coracle import");
}

Result<oci::Json> ask_image_program(const fs::path& program, const oci::Json& job,
                                    const std::function<void(const oci::Json& line)>& on_line) {
    TRY(oci::Json answer, ask(program, job, on_line).within(program.filename().string()));
    if (answer.contains("error")) return parse_error(answer["error"]);
    return std::move(answer["images"]);
}

}  // namespace coracle::handoff

// Implements the run of a short program with posix_spawn, a pidfd and one poll loop.
#include "base/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "base/unique_fd.hpp"

namespace coracle::base {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("create a pipe", errno);
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Written before anybody can read it, so that a program that reads nothing costs no SIGPIPE.
Result<UniqueFd> filled_pipe(const std::string& text) {
    if (text.size() > 4096) return make_error(ErrorCode::internal, "more than 4 KiB for a program's stdin");
    TRY(Pipe pipe, make_pipe());
    TRY_OK(write_all(pipe.write.get(), text, "a pipe"));
    return std::move(pipe.read);
}

// What the child does between clone and exec.
class SpawnRecipe {
public:
    SpawnRecipe(int in, int out) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_adddup2(&actions_, in, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, out, 1);
        ::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
        // What an embedding program holds open without close-on-exec is not for helpers.
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
        ::posix_spawnattr_init(&attributes_);
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    SpawnRecipe(const SpawnRecipe&) = delete;
    SpawnRecipe& operator=(const SpawnRecipe&) = delete;
    ~SpawnRecipe() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// A started child; reaped at the latest when this goes.
class Child {
public:
    static Result<Child> start(const ProgramCall& call, int in, int out) {
        const SpawnRecipe recipe(in, out);
        std::vector<std::string> words = call.argv;
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        std::array<char*, 1> no_env{nullptr};
        Child child;
        const int failed = ::posix_spawnp(&child.pid_, argv[0], recipe.actions(), recipe.attributes(), argv.data(),
                                          call.inherit_env ? environ : no_env.data());
        if (failed != 0) {
            child.pid_ = -1;
            return os_error("start '" + call.argv.front() + "'", failed);
        }
        child.pidfd_ = open_pidfd(child.pid_);
        if (!child.pidfd_) return os_error("watch '" + call.argv.front() + "'", errno);
        return child;
    }
    Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
    Child& operator=(Child&&) = delete;
    ~Child() { (void)reap(); }

    int fd() const { return pidfd_.get(); }

    // Kills what is left of its group first: as long as the child is not waited for, the group's number is its own.
    std::optional<int> reap() {
        if (pid_ <= 0) return std::nullopt;
        ::kill(-pid_, SIGKILL);
        int status = 0;
        pid_t got = -1;
        do {
            got = ::waitpid(pid_, &status, 0);
        } while (got < 0 && errno == EINTR);
        pid_ = -1;
        return got < 0 ? std::nullopt : std::optional(status);
    }

private:
    Child() = default;
    pid_t pid_ = -1;
    UniqueFd pidfd_;
};

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// Takes what is there without waiting. False: the end of the stream.
Result<bool> take(int fd, std::string& text, Bytes bound) {
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got == 0) return false;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return true;
        if (got < 0) return os_error("read its output", errno);
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > bound.count) {
            return make_error(ErrorCode::corrupt, "it wrote more than " + coracle::to_string(bound));
        }
    }
}

// Up to the child's end, not the stream's: a grandchild may hold the stream open for ever.
Result<std::string> read_until_end(const Child& child, int out, const ProgramCall& call) {
    const auto deadline = Clock::now() + call.patience;
    std::string text;
    std::array<pollfd, 2> waits{pollfd{child.fd(), POLLIN, 0}, pollfd{out, POLLIN, 0}};
    for (;;) {
        const int ready = ::poll(waits.data(), waits.size(), milliseconds_until(deadline));
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return os_error("wait for it", errno);
        if (ready == 0) {
            const auto waited = std::chrono::duration_cast<Duration>(call.patience);
            return make_error(ErrorCode::unavailable, "no end within " + coracle::to_string(waited));
        }
        TRY(const bool more, take(out, text, call.most_output));
        if (!more) waits[1].fd = -1;  // poll(2) passes negative ones over
        if (waits[0].revents != 0) return text;
    }
}

}  // namespace

Result<ProgramEnd> run_program(const ProgramCall& call) {
    TRY(const UniqueFd in, filled_pipe(call.input));
    TRY(Pipe out, make_pipe());
    TRY(Child child, Child::start(call, in.get(), out.write.get()));
    out.write.reset();
    ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
    TRY(std::string text, read_until_end(child, out.read.get(), call).within("'" + call.argv.front() + "'"));
    const auto status = child.reap();
    if (!status) return make_error(ErrorCode::internal, "'" + call.argv.front() + "' was waited for by somebody else");
    return ProgramEnd{.wait_status = *status, .output = std::move(text)};
}

}  // namespace coracle::base

// Implements the child in a user namespace: fork, unshare, maps, act, report.
#include "base/userns.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/unique_fd.hpp"

extern char** environ;

namespace coracle::base {

namespace {

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("pipe", errno);
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<int> wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return os_error("wait for a child", errno);
    }
    return status;
}

Result<> run_map_helper(const char* program, pid_t pid, const std::vector<IdRange>& ranges) {
    std::vector<std::string> words{program, std::to_string(pid)};
    for (const IdRange& range : ranges) {
        for (const std::uint32_t number : {range.inside, range.outside, range.count}) {
            words.push_back(std::to_string(number));
        }
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    TRY(Pipe complaint, make_pipe());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, complaint.write.get(), 2);
    pid_t child = -1;
    const int failed = ::posix_spawnp(&child, program, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    complaint.write.reset();
    if (failed != 0) {
        return os_error(std::string("run ") + program, failed).with_hint("install the package 'uidmap'");
    }
    const auto text = read_all(complaint.read.get(), 4_KiB, program);
    TRY(const int status, wait_for(child));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::string said = text ? text.value() : std::string();
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return make_error(ErrorCode::denied, std::string(program) + " refused the map: " + said,
                      "compare the user's lines in /etc/subuid and /etc/subgid");
}

// An Error as bytes for the pipe to the parent: code, errno, message, NUL, hint.
std::string packed(const Error& error) {
    return std::to_string(static_cast<int>(error.code)) + " " + std::to_string(error.os_errno) + " " + error.message +
           '\0' + error.hint;
}

Error unpacked(const std::string& text) {
    Error error;
    char* after = nullptr;
    error.code = static_cast<ErrorCode>(std::strtol(text.c_str(), &after, 10));
    error.os_errno = static_cast<int>(std::strtol(after, &after, 10));
    const std::string rest = text.substr(static_cast<std::size_t>(after - text.c_str()) + 1);
    const std::size_t split = rest.find('\0');
    error.message = rest.substr(0, split);
    if (split != std::string::npos) error.hint = rest.substr(split + 1);
    return error;
}

// The child's life: enter the namespace, wait for the maps, become its root, act.
Result<std::string> child_acts(const UniqueFd& entered, const UniqueFd& mapped,
                               const std::function<Result<std::string>()>& act) {
    if (::unshare(CLONE_NEWUSER) != 0) return user_namespace_error("create a user namespace", errno);
    TRY_OK(write_all(entered.get(), "e", "pipe"));
    char go = 0;
    while (::read(mapped.get(), &go, 1) < 0 && errno == EINTR) continue;
    if (go == 0) return make_error(ErrorCode::internal, "the parent could not write the id maps");
    if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) {
        return os_error("become root of the user namespace", errno);
    }
    return act();
}

bool is_one_id(const std::vector<IdRange>& ranges) { return ranges.size() == 1 && ranges.front().count == 1; }

Result<> write_id_maps(pid_t pid, const IdMaps& maps) {
    if (!is_one_id(maps.uids) || !is_one_id(maps.gids)) return write_id_maps_by_helpers(pid, maps);
    return write_single_id_maps("/proc/" + std::to_string(pid), maps.uids.front(), maps.gids.front());
}

}  // namespace

Error user_namespace_error(std::string_view act, int os_errno) {
    Error error = os_error(act, os_errno);
    if (os_errno == ENOSPC || os_errno == EUSERS) {
        error.code = ErrorCode::unsupported;
        error.message = "user namespaces are forbidden on this host: user.max_user_namespaces is 0 or used up";
        error.hint = "as root: sysctl -w user.max_user_namespaces=15000";
    } else if (os_errno == EPERM) {
        error.code = ErrorCode::unsupported;
        error.message = "user namespaces are forbidden on this host for ordinary users";
        error.hint =
            "as root: sysctl -w kernel.unprivileged_userns_clone=1 (Debian), or "
            "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)";
    }
    return error;
}

Result<> write_id_maps_by_helpers(pid_t pid, const IdMaps& maps) {
    TRY_OK(run_map_helper("newuidmap", pid, maps.uids));
    return run_map_helper("newgidmap", pid, maps.gids);
}

Result<std::string> run_in_userns(const IdMaps& maps, const std::function<Result<std::string>()>& act) {
    TRY(Pipe entered, make_pipe());
    TRY(Pipe mapped, make_pipe());
    TRY(Pipe report, make_pipe());
    const pid_t child = ::fork();
    if (child < 0) return os_error("fork", errno);
    if (child == 0) {
        entered.read.reset();
        mapped.write.reset();
        report.read.reset();
        const auto done = child_acts(entered.write, mapped.read, act);
        (void)write_all(report.write.get(), done ? done.value() : packed(done.error()), "pipe");
        ::_exit(done ? 0 : 1);
    }
    entered.write.reset();
    mapped.read.reset();
    report.write.reset();

    Result<> maps_written;
    char sign = 0;
    while (::read(entered.read.get(), &sign, 1) < 0 && errno == EINTR) continue;
    if (sign != 0) {
        maps_written = write_id_maps(child, maps);
        if (maps_written) (void)write_all(mapped.write.get(), "m", "pipe");
        mapped.write.reset();
    }
    auto text = read_all(report.read.get(), 1_MiB, "the child's report");
    TRY(const int status, wait_for(child));
    TRY_OK(std::move(maps_written));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    if (text && !text.value().empty()) return unpacked(text.value());
    return make_error(ErrorCode::internal, "the child in the user namespace died");
}

}  // namespace coracle::base

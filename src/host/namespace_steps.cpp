// Implements the steps by unshare(2) and mount(2) in a child, which nothing of this process is touched by.
#include "host/namespace_steps.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/unique_fd.hpp"

namespace coracle::host {

namespace {

enum Step : std::size_t { user, map, mount_ns, pid, network, proc, overlay, steps };
constexpr int not_reached = -1;
using Errors = std::array<int, steps>;

// Between fork and _exit only system calls: the caller may have threads.
int outcome(int result) { return result == 0 ? 0 : errno; }

int write_text(const char* path, const char* text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const ssize_t size = static_cast<ssize_t>(std::strlen(text));
    const int error = ::write(fd, text, static_cast<std::size_t>(size)) == size ? 0 : errno;
    ::close(fd);
    return error;
}

int write_maps(uid_t uid, gid_t gid) {
    std::array<char, 64> line{};
    (void)write_text("/proc/self/setgroups", "deny");
    ::snprintf(line.data(), line.size(), "0 %u 1\n", static_cast<unsigned>(uid));
    if (const int error = write_text("/proc/self/uid_map", line.data())) return error;
    ::snprintf(line.data(), line.size(), "0 %u 1\n", static_cast<unsigned>(gid));
    return write_text("/proc/self/gid_map", line.data());
}

// In a child: the new pid namespace begins with it.
int mount_proc_in_child() {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) ::_exit(outcome(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr)));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int mount_overlay(bool privileged) {
    if (::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr) != 0) return errno;
    for (const char* name : {"/tmp/a", "/tmp/b", "/tmp/m"}) ::mkdir(name, 0755);
    const char* const options = privileged ? "lowerdir=/tmp/a:/tmp/b" : "lowerdir=/tmp/a:/tmp/b,userxattr";
    return outcome(::mount("overlay", "/tmp/m", "overlay", MS_RDONLY, options));
}

void try_all(bool privileged, Errors& errors) {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    errors[user] = privileged ? 0 : outcome(::unshare(CLONE_NEWUSER));
    if (errors[user] != 0) return;
    errors[map] = privileged ? 0 : write_maps(uid, gid);
    if (errors[map] != 0) return;
    errors[mount_ns] = outcome(::unshare(CLONE_NEWNS));
    if (errors[mount_ns] == 0) errors[mount_ns] = outcome(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
    if (errors[mount_ns] != 0) return;
    errors[network] = outcome(::unshare(CLONE_NEWNET));
    errors[overlay] = mount_overlay(privileged);
    errors[pid] = outcome(::unshare(CLONE_NEWPID));
    if (errors[pid] == 0) errors[proc] = mount_proc_in_child();
}

std::optional<int> reached(int error) { return error == not_reached ? std::nullopt : std::optional(error); }

}  // namespace

NamespaceSteps try_namespaces(bool privileged) {
    Errors errors;
    errors.fill(not_reached);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    const base::UniqueFd reader(ends[0]);
    base::UniqueFd writer(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
        try_all(privileged, errors);
        (void)!::write(writer.get(), errors.data(), sizeof errors);
        ::_exit(0);
    }
    writer.reset();
    if (child > 0) {
        (void)!::read(reader.get(), errors.data(), sizeof errors);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    return {.user = reached(errors[user]),
            .map = reached(errors[map]),
            .mount = reached(errors[mount_ns]),
            .pid = reached(errors[pid]),
            .network = reached(errors[network]),
            .proc = reached(errors[proc]),
            .overlay = reached(errors[overlay])};
}

}  // namespace coracle::host

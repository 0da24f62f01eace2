// Implements the probe: who we are, which programs are there, and the parts that have files of their own.
#include "host/facts.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.hpp"
#include "host/cgroups.hpp"
#include "host/subids.hpp"

namespace coracle::host {

namespace {

constexpr Bytes most_proc_text = 4_MiB;

std::string text_of(const std::filesystem::path& path) {
    auto text = base::read_file(path, most_proc_text);
    return text ? std::move(text).value() : std::string();
}

bool has_sys_admin(const std::string& status) {
    constexpr unsigned cap_sys_admin = 21;
    const std::size_t at = status.find("\nCapEff:\t");
    if (at == std::string::npos) return false;
    const std::uint64_t effective = std::strtoull(status.c_str() + at + 9, nullptr, 16);
    return ((effective >> cap_sys_admin) & 1U) != 0;
}

// user.max_user_namespaces, and Debian's own kernel.unprivileged_userns_clone; a missing file forbids nothing.
bool user_namespaces_allowed(const std::filesystem::path& root) {
    const auto is_zero = [](const std::string& text) { return text == "0" || text == "0\n"; };
    return !is_zero(text_of(root / "proc/sys/user/max_user_namespaces")) &&
           !is_zero(text_of(root / "proc/sys/kernel/unprivileged_userns_clone"));
}

std::uint64_t hard_limit(__rlimit_resource resource) {
    rlimit limit{};
    return ::getrlimit(resource, &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}

// The mask of glibc's fixed size has room for 1024; a machine with more of them (EINVAL) shows as one with CPU 0 alone.
std::vector<unsigned> usable_cpus() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    std::vector<unsigned> numbers;
    if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return {0};
    for (unsigned number = 0; number < CPU_SETSIZE; ++number) {
        if (CPU_ISSET(number, &mask)) numbers.push_back(number);
    }
    return numbers;
}

// What a mount(2) of it would load. The lists of modules are long and read only where the kernel has none yet.
bool overlay_available(const std::filesystem::path& root, const std::string& release) {
    if (text_of(root / "proc/filesystems").find("\toverlay\n") != std::string::npos) return true;
    const std::filesystem::path modules = root / "lib/modules" / release;
    const auto listed = [&](const char* list) {
        return text_of(modules / list).find("/overlay.ko") != std::string::npos;
    };
    return !release.empty() && (listed("modules.dep") || listed("modules.builtin"));
}

// "6.1.0-13-amd64" is at least 5.11, where overlayfs got FS_USERNS_MOUNT and the option userxattr.
bool has_user_overlay(const std::string& release) {
    char* rest = nullptr;
    const long major = std::strtol(release.c_str(), &rest, 10);
    const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
    return major > 5 || (major == 5 && minor >= 11);
}

// A directory may be "executable" too.
bool is_program(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// 2, the kernel's default, lets a user count what his processes do; Debian and Ubuntu have 3 or 4.
bool perf_events_allowed(const std::filesystem::path& root) {
    const std::string level = text_of(root / "proc/sys/kernel/perf_event_paranoid");
    return !level.empty() && std::strtol(level.c_str(), nullptr, 10) <= 2;
}

}  // namespace

std::optional<Program> find_program(const std::filesystem::path& root, const std::string& search_path,
                                    const std::string& name) {
    for (std::size_t from = 0; from <= search_path.size();) {
        const std::size_t to = std::min(search_path.find(':', from), search_path.size());
        const std::filesystem::path directory = search_path.substr(from, to - from);
        const std::filesystem::path candidate = root / directory.relative_path() / name;
        if (directory.is_absolute() && is_program(candidate)) return Program{directory / name};
        from = to + 1;
    }
    return std::nullopt;
}

HostFacts probe(const std::filesystem::path& root, const std::string& search_path) {
    HostFacts facts;
    facts.uid = ::geteuid();
    facts.gid = ::getegid();
    facts.privileged = facts.uid == 0 && has_sys_admin(text_of(root / "proc/self/status"));
    facts.user_namespaces = user_namespaces_allowed(root);
    utsname names{};
    const std::string release = ::uname(&names) == 0 ? names.release : "";
    facts.machine = names.machine;
    facts.overlay = overlay_available(root, release);
    facts.user_overlay = has_user_overlay(release);
    const CgroupFacts cgroups =
        read_cgroups(root, text_of(root / "proc/self/mountinfo"), text_of(root / "proc/self/cgroup"));
    facts.cgroup_v1 = cgroups.v1;
    facts.cgroup_v2 = cgroups.v2;
    if (cgroups.v2 && !cgroups.v2->parent) facts.user_manager = find_user_manager(root, *cgroups.v2, facts.uid);
    const std::string passwd = text_of(root / "etc/passwd");
    facts.subuids = sub_ranges(text_of(root / "etc/subuid"), passwd, facts.uid);
    facts.subgids = sub_ranges(text_of(root / "etc/subgid"), passwd, facts.uid);
    facts.resolv_conf = text_of(root / "etc/resolv.conf");
    // The runtimes often lie where an ordinary user's PATH does not lead.
    facts.search_path = search_path + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    facts.newuidmap = find_program(root, facts.search_path, "newuidmap");
    facts.runc = find_program(root, facts.search_path, "runc");
    facts.crun = find_program(root, facts.search_path, "crun");
    facts.hard_open_files = hard_limit(RLIMIT_NOFILE);
    facts.hard_processes = hard_limit(RLIMIT_NPROC);
    facts.hard_file_size = hard_limit(RLIMIT_FSIZE);
    facts.hard_core = hard_limit(RLIMIT_CORE);
    facts.hard_stack = hard_limit(RLIMIT_STACK);
    facts.cpus = usable_cpus();
    facts.perf_events = perf_events_allowed(root);
    return facts;
}

}  // namespace coracle::host

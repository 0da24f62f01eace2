// Implements the search for cgroup hierarchies in mountinfo (proc(5)) and /proc/self/cgroup (cgroups(7)).
#include "host/cgroups.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"

namespace coracle::host {

namespace {

namespace fs = std::filesystem;

struct CgroupMount {
    std::string type;  // "cgroup" or "cgroup2"
    fs::path root;     // the part of the hierarchy that is mounted
    fs::path point;
    std::vector<std::string> super_options;
};

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// One line: id parent major:minor root point options [optional fields] - type source super-options.
std::optional<CgroupMount> cgroup_mount(const std::string& line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) return std::nullopt;
    const std::vector<std::string> before = split(std::string_view(line).substr(0, dash), ' ');
    const std::vector<std::string> after = split(std::string_view(line).substr(dash + 3), ' ');
    if (before.size() < 6 || after.size() < 3 || (after[0] != "cgroup" && after[0] != "cgroup2")) return std::nullopt;
    return CgroupMount{.type = after[0], .root = before[3], .point = before[4], .super_options = split(after[2], ',')};
}

// The path of this process in a hierarchy as seen through its mount: a bind mount or a cgroup namespace may show only
// the part below `mounted_root`.
fs::path own_directory(const CgroupMount& mount, const fs::path& membership) {
    const fs::path inside = membership.lexically_relative(mount.root);
    if (inside.empty() || inside == "." || inside.string().starts_with("..")) return mount.point;
    return mount.point / inside;
}

// The membership line whose controller list holds `controller` (v1), or the line "0::" (v2, empty controller).
std::optional<fs::path> membership_of(const std::vector<std::string>& lines, const std::string& controller) {
    for (const std::string& line : lines) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string list = line.substr(first + 1, second - first - 1);
        const std::vector<std::string> names = split(list, ',');
        const bool matches = controller.empty() ? list.empty() && line.starts_with("0:")
                                                : std::find(names.begin(), names.end(), controller) != names.end();
        if (matches) return fs::path(line.substr(second + 1));
    }
    return std::nullopt;
}

bool may_write(const fs::path& path) { return ::access(path.c_str(), W_OK) == 0; }

bool has_processes(const fs::path& directory) {
    const auto text = base::read_file(directory / "cgroup.procs", 1_MiB);
    return !text || !text.value().empty();
}

fs::path below(const fs::path& root, const fs::path& path) { return root / path.relative_path(); }

// What a cgroup v2 directory can hand to its children; nothing where it is not one.
std::optional<std::vector<std::string>> controllers_of(const fs::path& directory) {
    auto text = base::read_file(directory / "cgroup.controllers", 4_KiB);
    if (!text) return std::nullopt;
    while (!text.value().empty() && text.value().back() == '\n') text.value().pop_back();
    return split(text.value(), ' ');
}

void find_parent(const fs::path& root, CgroupV2& v2) {
    for (fs::path at = v2.own;; at = at.parent_path()) {
        const fs::path seen = below(root, at);
        // Only the root of the hierarchy may hold processes beside children with controllers ("no internal processes",
        // cgroup-v2.rst); the mount point of a cgroup namespace looks like the root but has cgroup.type.
        const bool true_root = at == v2.mount && !base::exists_at(AT_FDCWD, (seen / "cgroup.type").string());
        if (may_write(seen) && may_write(seen / "cgroup.procs") && may_write(seen / "cgroup.subtree_control") &&
            (true_root || !has_processes(seen))) {
            v2.controllers = controllers_of(seen).value_or(std::vector<std::string>());
            v2.parent = at;
            return;
        }
        if (at == v2.mount || !at.has_relative_path()) return;
    }
}

}  // namespace

CgroupFacts read_cgroups(const fs::path& root, std::string_view mountinfo, std::string_view memberships) {
    CgroupFacts facts;
    const std::vector<std::string> lines = split(memberships, '\n');
    for (const std::string& line : split(mountinfo, '\n')) {
        const auto mount = cgroup_mount(line);
        if (!mount) continue;
        if (mount->type == "cgroup2") {
            CgroupV2 v2{.mount = mount->point, .own = mount->point, .parent = {}, .controllers = {}};
            if (const auto membership = membership_of(lines, "")) v2.own = own_directory(*mount, *membership);
            find_parent(root, v2);
            facts.v2 = std::move(v2);
            continue;
        }
        for (const char* controller : {"memory", "cpu", "cpuacct", "pids", "blkio", "freezer", "cpuset"}) {
            const auto& options = mount->super_options;
            if (std::find(options.begin(), options.end(), controller) == options.end()) continue;
            CgroupV1 v1{.controller = controller, .mount = mount->point, .own = mount->point, .writable = false};
            if (const auto membership = membership_of(lines, controller)) v1.own = own_directory(*mount, *membership);
            v1.writable = may_write(below(root, v1.own));
            facts.v1.push_back(std::move(v1));
        }
    }
    return facts;
}

// The places are those of systemd.special(7) and pam_systemd(8), whatever XDG_RUNTIME_DIR says: a bus that was started
// for one session alone has no service manager.
std::optional<UserManager> find_user_manager(const fs::path& root, const CgroupV2& v2, uid_t uid) {
    const std::string id = std::to_string(uid);
    UserManager manager{.bus = fs::path("/run/user") / id / "bus",
                        .directory = v2.mount / "user.slice" / ("user-" + id + ".slice") / ("user@" + id + ".service"),
                        .controllers = {},
                        .refusal = {}};
    auto controllers = controllers_of(below(root, manager.directory));
    if (!controllers || !may_write(below(root, manager.bus))) return std::nullopt;
    manager.controllers = std::move(*controllers);
    return manager;
}

}  // namespace coracle::host

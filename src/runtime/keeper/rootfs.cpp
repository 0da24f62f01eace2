// Implements the mounts of the keeper: stage, overlay of skeleton, layers and top, proc, the view of the cgroups.
#include "runtime/keeper/rootfs.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files.hpp"
#include "base/try.hpp"
#include "runtime/keeper/union.hpp"

namespace coracle::runtime::keeper {

namespace {

// OVL_MAX_STACK in the kernel's fs/overlayfs/params.h.
constexpr std::size_t max_stack = 500;

// Holds what coracle itself puts beside the layers: skeleton, generated files, the runtime's state and logs.
constexpr std::uint64_t stage_bytes = 16ULL << 20U;

Result<> mount_at(const char* source, const std::string& target, const char* type, unsigned long flags,
                  const std::string& options) {
    if (::mount(source, target.c_str(), type, flags, options.c_str()) == 0) return {};
    return os_error("mount " + std::string(type) + " on '" + target + "'", errno).at(Stage::rootfs);
}

// mkdir -p below the stage; paths come from the plan and hold no "..".
Result<> make_below(const std::string& base, const std::string& path) {
    return base::make_dirs(std::filesystem::path(base) / path);
}

Result<> make_file_below(const std::string& base, const std::string& path, std::string_view content, mode_t mode) {
    const std::filesystem::path file = std::filesystem::path(base) / path;
    TRY_OK(base::make_dirs(file.parent_path()));
    TRY_OK(base::write_new_file_at(AT_FDCWD, file.string(), content, mode));
    if (::chmod(file.c_str(), mode) != 0) return os_error("chmod '" + path + "'", errno);
    return {};
}

Result<> make_mount_point(const std::string& base, const KeeperMountPoint& point) {
    const std::string full = base + "/" + point.path;
    if (base::exists_at(AT_FDCWD, full)) return {};
    if (point.file) return make_file_below(base, point.path, "", point.mode);
    TRY_OK(make_below(base, point.path));
    if (::chmod(full.c_str(), point.mode) != 0) return os_error("chmod '" + point.path + "'", errno);
    return {};
}

Result<> make_mount_points(const std::string& stage, const std::vector<KeeperMountPoint>& points) {
    for (const KeeperMountPoint& point : points) {
        TRY_OK(make_mount_point(stage + (point.on_top ? "/top" : "/skeleton"), point));
    }
    return {};
}

Result<> make_links(const std::string& base, const std::vector<KeeperLink>& links) {
    for (const KeeperLink& link : links) {
        const std::filesystem::path place = std::filesystem::path(base) / link.path;
        TRY_OK(base::make_dirs(place.parent_path()));
        if (::symlink(link.target.c_str(), place.c_str()) != 0) return os_error("link '" + link.path + "'", errno);
    }
    return {};
}

// Topmost first: what must not be shadowed, the image, what must not be missing.
std::vector<std::string> sources_of(const std::string& stage, const KeeperRootfs& rootfs) {
    std::vector<std::string> sources{stage + "/top"};
    sources.insert(sources.end(), rootfs.lowers.begin(), rootfs.lowers.end());
    sources.push_back(stage + "/skeleton");
    return sources;
}

// "0:1:2": names relative to the links folder, since a mount option string ends at one page (4096 bytes) and absolute
// paths of 40 layers would fill it.
Result<std::string> link_lowers(const std::string& stage, const std::vector<std::string>& targets) {
    std::string names;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const std::string name = std::to_string(i);
        const bool linked = ::symlink(targets[i].c_str(), (stage + "/layers/" + name).c_str()) == 0;
        if (!linked && errno != EEXIST) return os_error("link layer '" + targets[i] + "'", errno);
        names += (names.empty() ? "" : ":") + name;
    }
    return names;
}

Result<> mount_overlay(const std::string& stage, const KeeperRootfs& rootfs) {
    const std::vector<std::string> sources = sources_of(stage, rootfs);
    if (sources.size() > max_stack) {
        return make_error(ErrorCode::unsupported,
                          "the image has " + std::to_string(rootfs.lowers.size() - 1) +
                              " layers: overlayfs stacks at most " + std::to_string(max_stack - 3) +
                              " and coracle's three",
                          "build the image with fewer layers, or import its root file system as one")
            .at(Stage::rootfs);
    }
    TRY(const std::string names, link_lowers(stage, sources));
    std::string options = "lowerdir=" + names;
    if (!rootfs.read_only) options += ",upperdir=../upper/data,workdir=../upper/work";
    if (rootfs.user_xattr) options += ",userxattr";
    if (::chdir((stage + "/layers").c_str()) != 0) return os_error("enter the layers folder", errno);
    const unsigned long base_flags = MS_NODEV | MS_NOSUID;
    const unsigned long flags = rootfs.read_only ? base_flags | MS_RDONLY : base_flags;
    auto mounted = mount_at("overlay", stage + "/root", "overlay", flags, options);
    if (::chdir("/") != 0) return os_error("leave the layers folder", errno);
    if (!mounted && mounted.error().os_errno == ENODEV) {
        return make_error(ErrorCode::unsupported, "this kernel has no overlayfs", "load it as root: modprobe overlay")
            .at(Stage::rootfs);
    }
    return mounted;
}

// The tmpfs below holds directories and links only.
Result<> mount_union(const std::string& stage, const KeeperRootfs& rootfs) {
    const std::string root = stage + "/root";
    TRY_OK(mount_at("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=" + std::to_string(stage_bytes)));
    TRY_OK(unite(root, sources_of(stage, rootfs)));
    return make_read_only(root);
}

Result<> mount_root(const std::string& stage, const KeeperRootfs& rootfs) {
    return rootfs.overlay ? mount_overlay(stage, rootfs) : mount_union(stage, rootfs).at(Stage::rootfs);
}

// Whether `path` leads to a directory (or a file) in the assembled root, as a process inside would see it.
bool leads_somewhere(int root_fd, const std::string& path) {
    return base::open_in_root(root_fd, path, O_PATH).has_value();
}

// Where a path ends up once the links on its way are followed: "var/run/x" -> "run/x". Parts that do not exist yet are
// taken as they are.
std::string resolved_in(int root_fd, const std::string& path) {
    std::filesystem::path resolved;
    std::filesystem::path rest = path;
    for (int links = 0; !rest.empty() && links < 40;) {
        const std::filesystem::path part = *rest.begin();
        rest = rest.lexically_relative(part);
        if (rest == ".") rest.clear();
        const std::filesystem::path next = (resolved / part).lexically_normal();
        std::string target(4096, '\0');
        ssize_t length = -1;
        if (auto link = base::open_in_root(root_fd, next.string(), O_PATH | O_NOFOLLOW)) {
            length = ::readlinkat(link.value().get(), "", target.data(), target.size());
        }
        if (length <= 0) {
            resolved = next;
            continue;
        }
        target.resize(static_cast<std::size_t>(length));
        ++links;
        const std::filesystem::path to = target;
        rest = (to.is_absolute() ? to.relative_path() : to) / rest;
        if (to.is_absolute()) resolved.clear();
    }
    std::string text = (resolved / rest).lexically_normal().string();
    while (text.starts_with("../")) text.erase(0, 3);
    return text;
}

// The mount points that the image's own links lead astray, as they would have to exist in the skeleton.
Result<std::vector<KeeperMountPoint>> astray(const std::string& root, const std::vector<KeeperMountPoint>& points) {
    TRY(const base::UniqueFd root_fd, base::open_dir(root));
    std::vector<KeeperMountPoint> missing;
    for (KeeperMountPoint point : points) {
        if (leads_somewhere(root_fd.get(), point.path)) continue;
        point.path = resolved_in(root_fd.get(), point.path);
        point.on_top = false;
        missing.push_back(std::move(point));
    }
    return missing;
}

Result<> mount_upper(const std::string& stage, std::uint64_t bytes) {
    const std::string upper = stage + "/upper";
    TRY_OK(base::make_dirs(upper));
    // One inode for each 4 KiB: empty files would fill the kernel's memory long before the tmpfs.
    const std::string options = "mode=0755,size=" + std::to_string(bytes) +
                                ",nr_inodes=" + std::to_string(std::max<std::uint64_t>(1024, bytes / 4096));
    TRY_OK(mount_at("tmpfs", upper, "tmpfs", MS_NOSUID | MS_NODEV, options));
    TRY_OK(base::make_dirs(upper + "/data"));
    return base::make_dirs(upper + "/work");
}

// The same on disk. What the overlay's options name is the link, since a path may hold their separators.
Result<> make_upper(const std::string& stage, const std::string& scratch) {
    for (const char* name : {"/upper", "/upper/data", "/upper/work"}) TRY_OK(base::make_dirs(scratch + name));
    if (::symlink((scratch + "/upper").c_str(), (stage + "/upper").c_str()) == 0) return {};
    return os_error("link the scratch on disk", errno);
}

Result<> make_workspace(const std::string& scratch) {
    const std::string workspace = scratch + "/workspace";
    TRY_OK(base::make_dirs(workspace));
    if (::chmod(workspace.c_str(), 01777) != 0) return os_error("chmod '" + workspace + "'", errno);
    return {};
}

}  // namespace

Result<> mount_stage(const std::string& stage, const KeeperRootfs& rootfs) {
    // Slave, not private: a host mount that goes away must not be pinned by a sandbox.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
        return os_error("make mounts private", errno).at(Stage::rootfs);
    }
    TRY_OK(mount_at("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=" + std::to_string(stage_bytes)));
    for (const char* name : {"root", "state", "layers", "skeleton", "top"}) TRY_OK(make_below(stage, name));
    if (!rootfs.scratch.empty()) TRY_OK(make_workspace(rootfs.scratch));
    if (rootfs.read_only) return {};
    return rootfs.scratch.empty() ? mount_upper(stage, rootfs.upper_bytes) : make_upper(stage, rootfs.scratch);
}

Result<> mount_rootfs(const std::string& stage, const KeeperRootfs& rootfs) {
    const std::string root = stage + "/root";
    TRY_OK(make_mount_points(stage, rootfs.mount_points));
    TRY_OK(make_links(stage + "/skeleton", rootfs.links));
    for (const KeeperFile& file : rootfs.generated) {
        TRY_OK(make_file_below(stage + "/top", file.path, file.content, file.mode));
    }
    TRY_OK(mount_root(stage, rootfs));
    TRY(const auto missing, astray(root, rootfs.mount_points));
    if (missing.empty()) return {};
    // Lower layers must not change under a mounted overlay (overlayfs.rst, "Changes to underlying filesystems").
    if (::umount2(root.c_str(), MNT_DETACH) != 0) return os_error("unmount the root file system", errno);
    TRY_OK(make_mount_points(stage, missing));
    TRY_OK(mount_root(stage, rootfs));
    TRY(const auto still, astray(root, rootfs.mount_points));
    if (still.empty()) return {};
    return make_error(ErrorCode::unsupported,
                      "the image has something at '/" + still.front().path + "' on which nothing can be mounted",
                      "choose another path in the sandbox")
        .at(Stage::rootfs);
}

Result<> mount_proc() {
    if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return {};
    Error error = os_error("mount /proc", errno).at(Stage::rootfs);
    // A /proc with something mounted over parts of it may not be mounted anew in a user namespace: it would uncover
    // them (mount_too_revealing(), fs/namespace.c).
    if (error.os_errno == EPERM) {
        error.code = ErrorCode::unsupported;
        error.hint =
            "this host hides parts of /proc (as inside a container); start the outer container with an unmasked "
            "/proc (docker: --security-opt systempaths=unconfined)";
    }
    return error;
}

Result<> mount_cgroup_view(const std::string& source) {
    TRY_OK(mount_at(source.c_str(), "/sys/fs/cgroup", "none", MS_BIND, ""));
    // In a user namespace the flags of the source are locked and must be repeated (mount(2), EPERM).
    struct statvfs status {};
    if (::statvfs("/sys/fs/cgroup", &status) != 0) return os_error("statvfs /sys/fs/cgroup", errno);
    unsigned long kept = 0;
    if ((status.f_flag & ST_NOSUID) != 0) kept |= MS_NOSUID;
    if ((status.f_flag & ST_NODEV) != 0) kept |= MS_NODEV;
    if ((status.f_flag & ST_NOEXEC) != 0) kept |= MS_NOEXEC;
    if ((status.f_flag & ST_RELATIME) != 0) kept |= MS_RELATIME;
    return mount_at("none", "/sys/fs/cgroup", "none", MS_REMOUNT | MS_BIND | MS_RDONLY | kept, "");
}

}  // namespace coracle::runtime::keeper

// Decides how the root file system is put together and which directories and files must be in it.
#include <algorithm>

#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

std::string relative(const std::string& path) { return std::filesystem::path(path).relative_path().string(); }

bool has_user(std::string_view passwd, const ResolvedUser& user) { return !passwd.empty() && !user.name.empty(); }

std::string home_of(const ExecutionPlan& plan) {
    for (const std::string& line : plan.process.env) {
        if (line.starts_with("HOME=")) return line.substr(5);
    }
    return "/";
}

// Names for the addresses and the user that every program expects to be able to look up.
std::vector<GeneratedFile> generated_files(const PlanInput& input, const ResolvedUser& user,
                                           const ExecutionPlan& plan) {
    std::vector<GeneratedFile> files{{"etc/hostname", plan.hostname + "\n", 0644},
                                     {"etc/hosts", "127.0.0.1 localhost " + plan.hostname + "\n::1 localhost\n", 0644}};
    // A namespace with only lo can resolve nothing; the host's network comes with the host's resolver.
    files.push_back({"etc/resolv.conf", plan.namespaces.network ? "" : input.host.resolv_conf, 0644});
    if (input.image.host_places || !has_user(input.image.passwd, user)) {
        files.push_back({"etc/passwd", passwd_with(input.image.passwd, user, home_of(plan)), 0644});
        files.push_back({"etc/group", group_with(input.image.group, user.identity.gid), 0644});
    }
    if (plan.script) files.push_back({relative(script_path), *plan.script, 0755});
    return files;
}

// Scratch directories are everybody's. Only at the top level may they lie above the image: further down their parents
// would change the modes of the image's own directories.
MountPoint mount_point(const Mount& mount) {
    MountPoint point{.path = relative(mount.destination), .file = mount.onto_file};
    if (mount.type == "tmpfs") {
        point.mode = 01777;
        point.on_top = point.path.find('/') == std::string::npos;
    }
    return point;
}

std::vector<GeneratedLink> links_of(const ImageFacts& image) {
    std::vector<GeneratedLink> links;
    if (!image.host_places) return links;
    for (const HostPlace& place : *image.host_places) {
        if (place.kind == HostPlace::Kind::link) links.push_back({relative(place.path), place.target});
    }
    return links;
}

}  // namespace

RootfsKind choose_rootfs_kind(const host::HostFacts& host, IdMapping mapping) {
    const bool overlay = host.overlay && (mapping == IdMapping::none || host.user_overlay);
    return overlay ? RootfsKind::overlay : RootfsKind::flat;
}

Result<> plan_rootfs(const PlanInput& input, const ResolvedUser& user, ExecutionPlan& plan) {
    Rootfs& rootfs = plan.rootfs;
    rootfs.kind = choose_rootfs_kind(input.host, plan.id_mapping);
    if (rootfs.kind == RootfsKind::flat && input.request.writable_root.value_or(false)) {
        return make_error(ErrorCode::unsupported,
                          "--writable: a writable root needs overlayfs, which this kernel lacks",
                          "load it as root: modprobe overlay; or write to /workspace, --tmpfs or a volume");
    }
    rootfs.links = links_of(input.image);
    rootfs.read_only = !input.request.writable_root.value_or(false);
    rootfs.upper_size = plan.limits.storage;
    const auto& mounts = plan.mounts;
    const bool written = !rootfs.read_only ||
                         std::any_of(mounts.begin(), mounts.end(), [](const Mount& mount) { return mount.on_scratch; });
    rootfs.scratch_on_disk = rootfs.scratch_on_disk && written;  // a volume may lie in its place
    rootfs.user_xattr = plan.id_mapping != IdMapping::none;
    rootfs.generated = generated_files(input, user, plan);
    // Above the image, so that they are directories whatever the image has there: runc follows an image's link on /dev
    // to the host and writes there.
    for (const char* name : {"proc", "sys", "dev"}) rootfs.mount_points.push_back({.path = name, .on_top = true});
    for (const Mount& mount : plan.mounts) {
        // /dev/pts and the like are made by the runtime in its own /dev; the three above are there already.
        const std::string& place = mount.destination;
        if (place == "/dev" || place.starts_with("/dev/") || place == "/proc" || place == "/sys") continue;
        rootfs.mount_points.push_back(mount_point(mount));
    }
    // The image's own WORKDIR is made where it is missing, as Docker does; the caller's must exist.
    const std::string place = relative(plan.process.cwd);
    if (!input.request.workdir && !place.empty()) rootfs.mount_points.push_back({.path = place});
    return {};
}

}  // namespace coracle::plan

// Decides what is mounted where, and what of /proc and /sys is hidden or read-only.
#include <algorithm>

#include "base/try.hpp"
#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

std::string size_option(Bytes size) { return "size=" + std::to_string(size.count); }

// Without a bound, empty files would fill the kernel's memory long before the tmpfs.
std::string inodes_option(Bytes size, std::optional<std::uint64_t> asked = std::nullopt) {
    constexpr std::uint64_t least = 1024;
    return "nr_inodes=" + std::to_string(asked.value_or(std::max(least, size.count / 4096)));
}

Mount tmpfs_mount(const Tmpfs& tmpfs) {
    Mount mount{.destination = tmpfs.guest,
                .type = "tmpfs",
                .source = "tmpfs",
                .options = {"nosuid", "nodev"},
                .onto_file = false};
    if (!tmpfs.executable) mount.options.emplace_back("noexec");
    mount.options.emplace_back("mode=1777");
    mount.options.push_back(size_option(tmpfs.size));
    mount.options.push_back(inodes_option(tmpfs.size, tmpfs.inodes));
    return mount;
}

std::vector<Mount> system_mounts(const ExecutionPlan& plan) {
    std::vector<Mount> mounts{
        {"/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}, false},
        {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}, false},
        {"/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}, false},
        {"/dev/shm",
         "tmpfs",
         "shm",
         {"nosuid", "noexec", "nodev", "mode=1777", size_option(plan.limits.shm), inodes_option(plan.limits.shm)},
         false},
        {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}, false}};
    // gid 5 is the tty group; a single-id user namespace cannot express it.
    if (plan.id_mapping != IdMapping::single) mounts[2].options.emplace_back("gid=5");
    // sysfs may only be mounted by the owner of the network namespace.
    if (plan.namespaces.network || plan.id_mapping == IdMapping::none) {
        mounts.push_back({"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}, false});
    }
    return mounts;
}

Mount volume_mount(const Volume& volume, const VolumeFacts& facts) {
    // Recursively: what is mounted below the host's directory is part of it, and a user namespace may not split it off.
    // "rro" makes that read-only as well, "ro" would leave it writable.
    Mount mount{.destination = volume.guest,
                .type = "bind",
                .source = volume.host,
                .options = {"rbind"},
                .onto_file = !facts.directory};
    mount.options.emplace_back(volume.read_only ? "rro" : "rw");
    mount.options.emplace_back("nosuid");
    mount.options.emplace_back("nodev");
    for (const std::string& option : facts.locked_options) {
        const auto& known = mount.options;
        if (std::find(known.begin(), known.end(), option) == known.end()) mount.options.push_back(option);
    }
    return mount;
}

// The store's disk; the workspace is everybody's, as /tmp is.
Mount scratch_mount(const std::vector<std::string>& locked_options) {
    Mount mount = volume_mount({.host = {}, .guest = workspace, .read_only = false},
                               {.directory = true, .locked_options = locked_options});
    mount.on_scratch = true;
    return mount;
}

bool has_mount(const std::vector<Mount>& mounts, const std::string& destination) {
    return std::any_of(mounts.begin(), mounts.end(),
                       [&](const Mount& mount) { return mount.destination == destination; });
}

Result<> add_once(std::vector<Mount>& mounts, Mount mount) {
    mount.destination = std::filesystem::path(mount.destination).lexically_normal().string();
    if (mount.destination.size() > 1 && mount.destination.ends_with('/')) mount.destination.pop_back();
    if (has_mount(mounts, mount.destination)) {
        return make_error(ErrorCode::invalid_request, "two mounts on '" + mount.destination + "'",
                          "give each volume and tmpfs a place of its own");
    }
    mounts.push_back(std::move(mount));
    return {};
}

// What the image `host` shows, unless the caller put something in its place.
void add_host_places(const ImageFacts& image, std::vector<Mount>& mounts) {
    if (!image.host_places) return;
    for (const HostPlace& place : *image.host_places) {
        if (place.kind == HostPlace::Kind::link || has_mount(mounts, place.path)) continue;
        const Volume volume{.host = place.path, .guest = place.path, .read_only = true};
        const bool directory = place.kind == HostPlace::Kind::directory;
        mounts.push_back(volume_mount(volume, {.directory = directory, .locked_options = place.locked_options}));
    }
}

}  // namespace

Result<> plan_mounts(const PlanInput& input, ExecutionPlan& plan) {
    const Request& request = input.request;
    std::vector<Mount> wanted;
    for (const Tmpfs& tmpfs : request.tmpfs) {
        TRY_OK(add_once(wanted, tmpfs_mount(tmpfs)));
    }
    for (std::size_t i = 0; i < request.volumes.size(); ++i) {
        const VolumeFacts facts = i < input.volumes.size() ? input.volumes[i] : VolumeFacts{};
        TRY_OK(add_once(wanted, volume_mount(request.volumes[i], facts)));
    }
    const Bytes tmp_size = std::min(Tmpfs{}.size, input.basis.storage.value_or(Tmpfs{}.size));
    if (!has_mount(wanted, "/tmp")) wanted.push_back(tmpfs_mount({.guest = "/tmp", .size = tmp_size}));
    if (!has_mount(wanted, workspace)) {
        const Tmpfs in_memory{.guest = workspace, .size = plan.limits.storage};
        wanted.push_back(plan.rootfs.scratch_on_disk ? scratch_mount(input.scratch_options) : tmpfs_mount(in_memory));
    }
    add_host_places(input.image, wanted);
    // Outer before inner, or the outer would cover the inner.
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Mount& a, const Mount& b) { return a.destination < b.destination; });

    plan.mounts = system_mounts(plan);
    for (const Mount& mount : wanted)
        std::erase_if(plan.mounts, [&](const Mount& known) { return known.destination == mount.destination; });
    plan.mounts.insert(plan.mounts.end(), wanted.begin(), wanted.end());

    // The files through which /proc and /sys tell of, or act on, the whole machine.
    plan.masked_paths = {
        "/proc/acpi",        "/proc/asound", "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
        "/proc/sched_debug", "/proc/scsi",   "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap",
        "/sys/firmware"};
    plan.readonly_paths = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};
    return {};
}

}  // namespace coracle::plan

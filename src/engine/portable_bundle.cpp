// Implements the portable bundle: the image flattened, the plan's directories and files added, the plan transcribed.
#include "engine/portable_bundle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/seccomp.hpp"
#include "runtime_config/runtime_config.hpp"
#include "snapshot/ownership.hpp"
#include "snapshot/snapshots.hpp"

namespace coracle::engine {

namespace {

// Makes the directories on the way to `path`, links resolved inside the root, and returns the last one.
Result<base::UniqueFd> make_way(int root_fd, const std::filesystem::path& path) {
    TRY(base::UniqueFd at, base::open_in_root(root_fd, ".", O_PATH | O_DIRECTORY));
    std::filesystem::path done;
    for (const auto& part : path) {
        done /= part;
        auto next = base::open_in_root(root_fd, done.string(), O_PATH | O_DIRECTORY);
        if (!next && next.error().os_errno == ENOENT) {
            TRY_OK(base::make_dir_at(at.get(), part.string()));
            next = base::open_in_root(root_fd, done.string(), O_PATH | O_DIRECTORY);
        }
        TRY(at, std::move(next));
    }
    return at;
}

Result<> put_file(int root_fd, const std::filesystem::path& path, std::string_view content, mode_t mode) {
    TRY(const base::UniqueFd folder, make_way(root_fd, path.parent_path()));
    return base::replace_file_at(folder.get(), path.filename().string(), content, base::Durability::cache, mode);
}

Result<> put_link(int root_fd, const plan::GeneratedLink& link) {
    const std::filesystem::path path = link.path;
    TRY(const base::UniqueFd folder, make_way(root_fd, path.parent_path()));
    if (::symlinkat(link.target.c_str(), folder.get(), path.filename().c_str()) == 0 || errno == EEXIST) return {};
    return os_error("link '" + link.path + "'", errno);
}

// As in the keeper's overlay: a missing one is made, one above the image gets its mode in any case.
Result<> make_mount_point(int root_fd, const plan::MountPoint& point) {
    const bool there = base::open_in_root(root_fd, point.path, O_PATH).has_value();
    if (there && !point.on_top) return {};
    // What lies above the image is at the top level; a link or file of the image in its place gives way.
    if (point.on_top && !base::open_file_at(root_fd, point.path, O_PATH | O_DIRECTORY | O_NOFOLLOW)) {
        TRY_OK(base::remove_tree_at(root_fd, point.path));
    }
    if (point.file) return put_file(root_fd, point.path, "", point.mode);
    TRY(const base::UniqueFd made, make_way(root_fd, point.path));
    // fchmod refuses O_PATH descriptors; their /proc link leads to the same directory.
    if (::chmod(("/proc/self/fd/" + std::to_string(made.get())).c_str(), point.mode) == 0) return {};
    return os_error("chmod '" + point.path + "'", errno);
}

Result<> complete_root(const std::filesystem::path& root, const plan::Rootfs& rootfs) {
    TRY(const base::UniqueFd root_fd, base::open_dir(root));
    for (const plan::GeneratedLink& link : rootfs.links) TRY_OK(put_link(root_fd.get(), link));
    for (const plan::MountPoint& point : rootfs.mount_points) TRY_OK(make_mount_point(root_fd.get(), point));
    for (const plan::GeneratedFile& file : rootfs.generated) {
        TRY_OK(put_file(root_fd.get(), file.path, file.content, file.mode));
    }
    return {};
}

Result<> fill(const content::Store& store, const Prepared& prepared, const std::filesystem::path& target,
              const std::string& config) {
    const plan::ExecutionPlan& plan = prepared.plan;
    const std::filesystem::path root = target / "rootfs";
    TRY_OK(base::make_dirs(root));
    if (prepared.image) {
        TRY_OK(
            snapshot::Snapshots(store).flatten(*prepared.image, plan.ownership, plan.id_maps, root).at(Stage::unpack));
    }
    const auto complete = [&]() -> Result<std::string> {
        TRY_OK(complete_root(root, plan.rootfs));
        return std::string();
    };
    // A directory on the way may be another id's, or forbid its owner to write.
    TRY_OK(snapshot::run_unlocked(plan.ownership, plan.id_maps, complete).at(Stage::rootfs));
    TRY(const base::UniqueFd folder, base::open_dir(target));
    return base::write_new_file_at(folder.get(), "config.json", config);
}

}  // namespace

Result<> write_portable_bundle(const content::Store& store, const Prepared& prepared,
                               const std::filesystem::path& target) {
    const plan::ExecutionPlan& plan = prepared.plan;
    if (plan.rootfs.scratch_on_disk) {
        return make_error(ErrorCode::unsupported,
                          "--storage " + to_string(plan.limits.storage) + ": a bundle has nobody to watch a disk",
                          "ask for at most the memory (" + to_string(plan.limits.memory) + "), or use coracle run");
    }
    TRY(const auto seccomp, policy::find_seccomp(plan.process.seccomp, plan.process.capabilities));
    TRY(const std::string config, runtime_config::portable_config(plan, seccomp));
    TRY_OK(base::make_dirs(target));
    TRY(const base::UniqueFd folder, base::open_dir(target));
    TRY(const auto names, base::list_dir(folder.get()));
    if (!names.empty()) {
        return make_error(ErrorCode::invalid_request, "'" + target.string() + "' is not empty",
                          "give a new or an empty directory");
    }
    auto filled = fill(store, prepared, target, config);
    if (!filled) {
        const auto remove = [&]() -> Result<std::string> {
            (void)base::remove_tree_at(folder.get(), "rootfs");
            return std::string();
        };
        (void)snapshot::run_unlocked(plan.ownership, plan.id_maps, remove);
        (void)base::remove_tree_at(folder.get(), "config.json");
    }
    return filled;
}

}  // namespace coracle::engine

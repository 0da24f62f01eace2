// Implements the acquisition of a sandbox: keeper, run directory, cgroup, bundle, container.
#include "engine/sandbox.hpp"

#include <unistd.h>

#include <ctime>

#include "base/try.hpp"
#include "cgroup/user_scope.hpp"
#include "runtime/command_line.hpp"

namespace coracle::engine {

namespace {

constexpr auto creation_patience = std::chrono::seconds(60);

runtime::KeeperIds keeper_ids(plan::IdMapping mapping) {
    switch (mapping) {
        case plan::IdMapping::none: return runtime::KeeperIds::inherited;
        case plan::IdMapping::single: return runtime::KeeperIds::self;
        case plan::IdMapping::subids: return runtime::KeeperIds::mapped;
    }
    return runtime::KeeperIds::self;
}

runtime::KeeperRootfs keeper_rootfs(const Prepared& prepared, const SandboxOptions& options) {
    const plan::Rootfs& rootfs = prepared.plan.rootfs;
    runtime::KeeperRootfs result{.overlay = rootfs.kind == plan::RootfsKind::overlay,
                                 .lowers = {options.programs.init_layer.string()},
                                 .user_xattr = rootfs.user_xattr,
                                 .read_only = rootfs.read_only,
                                 .upper_bytes = rootfs.upper_size.count,
                                 .scratch = options.scratch,
                                 .mount_points = {},
                                 .generated = {},
                                 .links = {}};
    for (auto layer = prepared.layers.rbegin(); layer != prepared.layers.rend(); ++layer) {
        result.lowers.push_back(layer->string());
    }
    for (const plan::MountPoint& point : rootfs.mount_points) {
        result.mount_points.push_back(
            {.path = point.path, .mode = point.mode, .file = point.file, .on_top = point.on_top});
    }
    for (const plan::GeneratedFile& file : rootfs.generated) {
        result.generated.push_back({.path = file.path, .content = file.content, .mode = file.mode});
    }
    for (const plan::GeneratedLink& link : rootfs.links) result.links.push_back({link.path, link.target});
    return result;
}

runtime::KeeperJob keeper_job(const Prepared& prepared, const SandboxOptions& options, const cgroup::Cgroup& cgroup,
                              const std::filesystem::path& stage) {
    const bool manages = prepared.plan.cgroup.runtime_managed;
    runtime::KeeperJob job{.ids = keeper_ids(prepared.plan.id_mapping),
                           .outer_uid = ::geteuid(),
                           .outer_gid = ::getegid(),
                           .stage = stage.string(),
                           .rootfs = keeper_rootfs(prepared, options),
                           .cgroup = {.v2_directory = cgroup.v2_directory(),
                                      .v1_tasks = cgroup.v1_tasks(),
                                      .view = manages ? std::string() : prepared.plan.cgroup.view.string()},
                           .runtime_argv = {}};
    // The runtime takes a cgroup of the container's name for its own: the names must differ.
    job.runtime_argv = runtime::run_detached(prepared.plan.runtime, {.id = "run-" + options.id,
                                                                     .bundle = stage.parent_path().string(),
                                                                     .stage = stage.string(),
                                                                     .manages_cgroups = manages});
    return job;
}

runtime::RunRecord record_of(const Prepared& prepared, const std::vector<std::filesystem::path>& parents) {
    return {.cgroup_parents = parents,
            .image = prepared.image_ref,
            .command = prepared.plan.process.args,
            .wall_time = prepared.plan.limits.wall_time,
            .pid = ::getpid(),
            .started = std::time(nullptr)};
}

// The keeper goes in, since a process may only be moved, or born, within a subtree that its user owns (cgroup-v2.rst,
// "Delegation Containment").
Result<> enter_scope(const plan::ExecutionPlan& plan, const SandboxOptions& options, pid_t keeper) {
    if (plan.cgroup.scope_bus.empty()) return {};
    const Duration longest = 2 * creation_patience + plan.limits.wall_time + plan.limits.grace;
    return cgroup::enter_scope({.bus = plan.cgroup.scope_bus,
                                .parent = plan.cgroup.parents.front().path,
                                .run_id = options.id,
                                .pid = keeper,
                                .longest = std::chrono::duration_cast<std::chrono::microseconds>(longest),
                                .cancel_fd = options.cancel_fd});
}

}  // namespace

std::string root_path(const SandboxOptions& options) {
    return runtime::stage_paths((options.runs / options.id / "stage").string()).root;
}

Result<Sandbox> Sandbox::create(const Prepared& prepared, const SandboxOptions& options, std::string_view config) {
    TRY(auto init_channel, base::Channel::make_pair());
    base::UniqueFd init_end = std::move(init_channel.second).release();
    const plan::Cgroup& place = prepared.plan.cgroup;
    const std::vector<std::filesystem::path> parents = cgroup::parents_of(place, options.id);
    TRY(auto keeper,
        runtime::KeeperProcess::start({.program = options.programs.keeper,
                                       .run_id = options.id,
                                       .runs_dir = options.runs,
                                       .cgroup_parents = parents,
                                       .new_user_namespace = prepared.plan.id_mapping != plan::IdMapping::none},
                                      init_end)
            .at(Stage::create));
    init_end.reset();
    if (prepared.plan.id_mapping == plan::IdMapping::subids) {
        TRY_OK(keeper.write_id_maps(prepared.plan.id_maps).at(Stage::create));
    }
    TRY(auto directory,
        runtime::RunDirectory::create(options.runs, options.id, record_of(prepared, parents)).at(Stage::create));
    TRY_OK(enter_scope(prepared.plan, options, keeper.pid()).at(Stage::cgroup));
    TRY(auto cgroup, cgroup::Cgroup::create(place, options.id).at(Stage::cgroup));
    TRY_OK(directory.write_config(config).at(Stage::config));
    const runtime::KeeperJob job = keeper_job(prepared, options, cgroup, directory.stage());
    TRY(auto container,
        runtime::Container::create(std::move(keeper), job, std::move(init_channel.first), options.cancel_fd,
                                   std::chrono::steady_clock::now() + creation_patience, options.meanwhile)
            .at(Stage::create));
    return Sandbox{std::move(directory), std::move(cgroup), std::move(container)};
}

Result<> Sandbox::retire(bool stuck) && {
    if (stuck) {
        std::move(cgroup).abandon();
        std::move(directory).abandon();
        return {};
    }
    if (auto gone = std::move(cgroup).retire(); !gone) {
        std::move(directory).abandon();
        return std::move(gone).error();
    }
    return std::move(directory).retire();
}

}  // namespace coracle::engine

// Writes the golden plans down by hand, so that a change of what is decided shows beside a change of what is written.
#include "support/golden_plans.hpp"

namespace coracle::testing {

namespace {

using plan::Mount;

plan::Process process() {
    return {.args = {"sh"},
            .env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/workspace"},
            .cwd = "/workspace",
            .user = {.uid = 0, .gid = 0, .additional_gids = {}},
            .capabilities = {},
            .rlimits = {{"RLIMIT_NOFILE", 1024, 1024}, {"RLIMIT_CORE", 0, 0}},
            .seccomp = "default"};
}

Mount devpts(bool has_tty_group) {
    Mount mount{"/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}};
    if (has_tty_group) mount.options.push_back("gid=5");
    return mount;
}

std::vector<Mount> mounts(bool has_tty_group) {
    return {
        {"/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}},
        {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}},
        devpts(has_tty_group),
        {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=256m"}},
        {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}},
        {"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}},
        {"/tmp", "tmpfs", "tmpfs", {"nosuid", "nodev", "mode=1777", "size=64m"}},
        {"/workspace", "tmpfs", "tmpfs", {"nosuid", "nodev", "mode=1777", "size=64m"}},
    };
}

plan::ExecutionPlan common(bool has_tty_group) {
    plan::ExecutionPlan plan;
    plan.process = process();
    plan.mounts = mounts(has_tty_group);
    plan.masked_paths = {"/proc/acpi",          "/proc/asound",     "/proc/kcore",       "/proc/keys",
                         "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
                         "/proc/scsi",          "/sys/firmware"};
    plan.readonly_paths = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};
    plan.hostname = "coracle";
    return plan;
}

void limit_by_cgroup(plan::ExecutionPlan& plan, plan::CgroupMode mode) {
    plan.cgroup.mode = mode;
    plan.cgroup.memory = 512_MiB;
    plan.cgroup.cpus = Cpus{1000};
    plan.cgroup.pids = 256;
    plan.namespaces.cgroup = mode == plan::CgroupMode::v2;
}

}  // namespace

plan::ExecutionPlan default_root_v2_plan() {
    plan::ExecutionPlan plan = common(true);
    limit_by_cgroup(plan, plan::CgroupMode::v2);
    return plan;
}

plan::ExecutionPlan default_root_v1_plan() {
    plan::ExecutionPlan plan = common(true);
    limit_by_cgroup(plan, plan::CgroupMode::v1);
    return plan;
}

plan::ExecutionPlan default_rootless_v2_plan() {
    plan::ExecutionPlan plan = common(true);
    plan.id_mapping = plan::IdMapping::subids;
    plan.id_maps = {.uids = {{0, 1000, 1}, {1, 100000, 65536}}, .gids = {{0, 1000, 1}, {1, 100000, 65536}}};
    plan.ownership = plan::Ownership::subids;
    limit_by_cgroup(plan, plan::CgroupMode::v2);
    return plan;
}

plan::ExecutionPlan default_rootless_single_plan() {
    plan::ExecutionPlan plan = common(false);
    plan.id_mapping = plan::IdMapping::single;
    plan.id_maps = {.uids = {{0, 1000, 1}}, .gids = {{0, 1000, 1}}};
    plan.ownership = plan::Ownership::single;
    plan.namespaces.nested_user = true;
    plan.process.rlimits.push_back({"RLIMIT_NPROC", 256, 256});
    return plan;
}

std::vector<GoldenPlan> golden_plans() {
    return {{"default-root-v2", default_root_v2_plan()},
            {"default-root-v1", default_root_v1_plan()},
            {"default-rootless-v2", default_rootless_v2_plan()},
            {"default-rootless-single", default_rootless_single_plan()}};
}

}  // namespace coracle::testing

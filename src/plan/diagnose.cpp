// Implements the findings, one function for each subject.
#include "plan/diagnose.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace coracle::plan {

namespace {

std::string words(int os_errno) { return ::strerror(os_errno); }

Finding good(std::string subject, std::string detail) {
    return {.subject = std::move(subject), .health = Health::good, .detail = std::move(detail), .lost = {}, .fix = {}};
}

Finding runtime(const Observations& seen) {
    std::string detail;
    const auto add = [&detail](const char* name, const std::optional<host::Program>& program,
                               const std::string& version) {
        if (!program) return;
        detail += (detail.empty() ? "" : ", ") + std::string(name) + " " +
                  (version.empty() ? "(no version)" : version) + " at " + program->path.string();
    };
    add("runc", seen.host.runc, seen.runc_version);
    add("crun", seen.host.crun, seen.crun_version);
    if (seen.host.runc) return good("runtime", detail);
    if (seen.host.crun) {
        return {.subject = "runtime",
                .health = Health::weak,
                .detail = detail,
                .lost = "runc is the default runtime; runs need --runtime crun",
                .fix = "apt-get install runc"};
    }
    return {.subject = "runtime",
            .health = Health::bad,
            .detail = "neither runc nor crun is installed",
            .lost = "no sandbox can be made",
            .fix = "apt-get install runc"};
}

Finding no_namespaces(std::string detail, std::string fix) {
    return {.subject = "namespaces",
            .health = Health::bad,
            .detail = std::move(detail),
            .lost = "no sandbox can be made by this user",
            .fix = std::move(fix)};
}

Finding namespaces(const Observations& seen) {
    const host::NamespaceSteps& steps = seen.steps;
    if (!steps.user) return no_namespaces("they could not be tried: no process could be started", "");
    if (*steps.user != 0) {
        const bool limit = *steps.user == ENOSPC;
        return no_namespaces(
            "a user namespace is refused: " + words(*steps.user),
            limit ? "sysctl -w user.max_user_namespaces=15000" : "sysctl -w kernel.unprivileged_userns_clone=1");
    }
    const int inside = steps.map.value_or(0) != 0 ? *steps.map : steps.mount.value_or(0);
    if (inside != 0) {
        return no_namespaces("a user namespace can be made, but nothing in it (" + words(inside) +
                                 "): a security module such as AppArmor restricts it",
                             "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
    }
    if (steps.pid.value_or(0) != 0) return no_namespaces("a pid namespace is refused: " + words(*steps.pid), "");
    if (steps.proc.value_or(0) != 0) {
        return no_namespaces(
            "a new /proc cannot be mounted (" + words(*steps.proc) + "): the host's is masked, as in most containers",
            "docker run --security-opt systempaths=unconfined ...");
    }
    if (steps.network.value_or(0) != 0) {
        return no_namespaces("a network namespace is refused: " + words(*steps.network), "");
    }
    return good("namespaces", seen.host.privileged ? "root makes them without a user namespace"
                                                   : "user, mount, pid and network namespaces can be made");
}

Finding ids(const Observations& seen) {
    if (seen.host.privileged) return good("ids", "root: the sandbox's ids are the host's");
    const bool ranges = !seen.host.subuids.empty() && !seen.host.subgids.empty();
    if (ranges && seen.host.newuidmap) return good("ids", "subordinate ids and newuidmap are there");
    Finding finding{.subject = "ids",
                    .health = Health::weak,
                    .detail = ranges ? "newuidmap is not installed" : "this account has no subordinate ids",
                    .lost = "only uid 0 exists in a sandbox: no --user, and files of images have one owner",
                    .fix = "apt-get install uidmap"};
    if (!ranges) {
        finding.fix = "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + seen.user;
    }
    return finding;
}

std::string listed(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::set<std::string> v1_controllers(const host::HostFacts& host) {
    std::set<std::string> names;
    for (const host::CgroupV1& one : host.cgroup_v1) {
        if (one.writable) names.insert(one.controller);
    }
    return names;
}

std::string delegation_fix(const Observations& seen) {
    if (!seen.host.cgroup_v2) return "run coracle as root: on cgroup v1 nothing can be delegated safely";
    if (seen.systemd) return "systemd-run --user --scope -p Delegate=yes coracle run ...";
    return "mkdir /sys/fs/cgroup/" + seen.user + " && chown -R " + seen.user + " /sys/fs/cgroup/" + seen.user +
           " && echo $$ >/sys/fs/cgroup/" + seen.user + "/cgroup.procs";
}

Finding cgroups(const Observations& seen) {
    const host::HostFacts& host = seen.host;
    const std::set<std::string> v1 = v1_controllers(host);
    std::set<std::string> v2;
    const bool refused = host.user_manager && !host.user_manager->refusal.empty();
    const bool scope = host.user_manager && !refused;
    if (host.cgroup_v2 && host.cgroup_v2->parent) {
        v2 = {host.cgroup_v2->controllers.begin(), host.cgroup_v2->controllers.end()};
    } else if (scope) {
        v2 = {host.user_manager->controllers.begin(), host.user_manager->controllers.end()};
    }
    const bool on_v2 = v2.contains("memory") || !v1.contains("memory");
    const std::set<std::string>& have = on_v2 ? v2 : v1;
    std::set<std::string> missing;
    for (const char* name : {"cpu", "memory", "pids"}) {
        if (!have.contains(name)) missing.insert(name);
    }
    const std::string mode = on_v2 ? (host.cgroup_v2 ? "cgroup v2" : "no cgroups") : "cgroup v1";
    if (missing.empty()) {
        const bool asked = on_v2 && scope;
        return good("cgroups", mode + (asked ? " through the user's service manager" : "") + " with " + listed(have));
    }
    return {.subject = "cgroups",
            .health = Health::weak,
            .detail = mode + ", not writable for this user: " + listed(missing) +
                      (refused ? "; " + host.user_manager->refusal : ""),
            .lost = "these limits fall to weaker mechanisms, and are refused where they are asked for",
            .fix = delegation_fix(seen)};
}

Finding overlay(const Observations& seen) {
    if (!seen.steps.overlay || *seen.steps.overlay == 0)
        return good("overlayfs", "layers are stacked, nothing is copied");
    return {.subject = "overlayfs",
            .health = Health::weak,
            .detail = "cannot be mounted: " + words(*seen.steps.overlay),
            .lost = "each image is copied into one flat tree, and --writable is refused",
            .fix = "modprobe overlay"};
}

Finding image_program(const Observations& seen) {
    if (seen.image_program) return good("coracle-image", "pulls images and unpacks them fast");
    return {.subject = "coracle-image",
            .health = Health::weak,
            .detail = "the program is not beside coracle",
            .lost = "coracle pull, and the fast way of unpacking",
            .fix = "install coracle-image into the directory of coracle"};
}

}  // namespace

std::vector<Finding> diagnose(const Observations& seen) {
    std::vector<Finding> findings{runtime(seen), namespaces(seen), ids(seen), cgroups(seen)};
    findings.push_back(overlay(seen));
    findings.push_back(image_program(seen));
    return findings;
}

}  // namespace coracle::plan

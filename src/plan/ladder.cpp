// Decides where on this host a run's cgroup can be made: the rungs from a cgroup of our own down to none.
#include "plan/ladder.hpp"

namespace coracle::plan {

namespace {

std::string whose(const host::HostFacts& host) { return "uid " + std::to_string(host.uid); }

CgroupChance v2_chance(const host::CgroupV2& v2) {
    return {.mode = CgroupMode::v2,
            .parents = {{.controller = {}, .path = *v2.parent}},
            .controllers = {v2.controllers.begin(), v2.controllers.end()},
            .scope_bus = {},
            .why_not = "the controller is not delegated to '" + v2.parent->string() + "'"};
}

// app.slice, the slice for programs (systemd.special(7)): named to the manager, so that the path is known beforehand.
CgroupChance scope_chance(const host::UserManager& manager) {
    return {.mode = CgroupMode::v2,
            .parents = {{.controller = {}, .path = manager.directory / "app.slice"}},
            .controllers = {manager.controllers.begin(), manager.controllers.end()},
            .scope_bus = manager.bus,
            .why_not = "the controller is not delegated to '" + manager.directory.string() + "'"};
}

CgroupChance v1_chance(const host::HostFacts& host, bool cpuset) {
    CgroupChance chance{.mode = CgroupMode::none,
                        .parents = {},
                        .controllers = {},
                        .scope_bus = {},
                        .why_not = "its cgroup v1 hierarchy is missing or not writable for " + whose(host)};
    for (const host::CgroupV1& v1 : host.cgroup_v1) {
        // freezer holds nothing that a run needs, cpuset what few ask for; a hierarchy that is not joined costs
        // nothing.
        if (!v1.writable || v1.controller == "freezer" || (v1.controller == "cpuset" && !cpuset)) continue;
        chance.mode = CgroupMode::v1;
        chance.parents.push_back({.controller = v1.controller, .path = v1.own});
        chance.controllers.insert(v1.controller);
    }
    return chance;
}

// How many of our limits the controllers can hold. On a hybrid host the v2 hierarchy is there but has few or none.
std::size_t usefulness(const CgroupChance& chance) {
    return chance.controllers.count("memory") + chance.controllers.count("cpu") + chance.controllers.count("pids");
}

}  // namespace

CgroupChance best_chance(const host::HostFacts& host, bool cpuset) {
    CgroupChance v1 = v1_chance(host, cpuset);
    if (host.cgroup_v2 && host.cgroup_v2->parent) {
        CgroupChance v2 = v2_chance(*host.cgroup_v2);
        if (usefulness(v2) > 0 && usefulness(v2) >= usefulness(v1)) return v2;
    }
    const bool refused = host.user_manager && !host.user_manager->refusal.empty();
    if (host.user_manager && !refused) {
        CgroupChance scope = scope_chance(*host.user_manager);
        if (usefulness(scope) > 0 && usefulness(scope) >= usefulness(v1)) return scope;
    }
    if (usefulness(v1) > 0) return v1;
    return {.mode = CgroupMode::none,
            .parents = {},
            .controllers = {},
            .scope_bus = {},
            .why_not = "no cgroup of this host is writable for " + whose(host) +
                       (refused ? ", and its service manager gave none: " + host.user_manager->refusal : "")};
}

}  // namespace coracle::plan

// Implements the hosts: each is the one before it with less.
#include "support/made_up_hosts.hpp"

namespace coracle::testing {

namespace {

host::HostFacts root() {
    host::HostFacts facts;
    facts.privileged = true;
    facts.overlay = true;
    facts.runc = host::Program{"/usr/sbin/runc"};
    facts.crun = host::Program{"/usr/bin/crun"};
    facts.resolv_conf = "nameserver 192.0.2.53\n";
    facts.search_path = "/usr/sbin:/usr/bin";
    facts.machine = "x86_64";
    return facts;
}

host::HostFacts user() {
    host::HostFacts facts = root();
    facts.privileged = false;
    facts.uid = 1000;
    facts.gid = 1000;
    return facts;
}

host::CgroupV2 v2(const char* parent, std::vector<std::string> controllers) {
    return {.mount = "/sys/fs/cgroup", .own = parent, .parent = parent, .controllers = std::move(controllers)};
}

}  // namespace

host::HostFacts root_on_v2() {
    host::HostFacts facts = root();
    facts.cgroup_v2 = v2("/sys/fs/cgroup", {"cpuset", "cpu", "io", "memory", "pids"});
    return facts;
}

host::HostFacts root_on_v1() {
    host::HostFacts facts = root();
    for (const char* controller : {"memory", "cpu", "cpuacct", "pids", "blkio", "freezer"}) {
        const std::string mount = std::string("/sys/fs/cgroup/") + controller;
        facts.cgroup_v1.push_back({.controller = controller, .mount = mount, .own = mount, .writable = true});
    }
    return facts;
}

host::HostFacts root_on_hybrid() {
    host::HostFacts facts = root_on_v1();
    facts.cgroup_v2 = v2("/sys/fs/cgroup/unified", {});
    facts.cgroup_v2->mount = "/sys/fs/cgroup/unified";
    return facts;
}

host::HostFacts root_without_cgroups() { return root(); }

host::HostFacts user_with_delegation() {
    host::HostFacts facts = user();
    facts.newuidmap = host::Program{"/usr/bin/newuidmap"};
    facts.subuids = {{.start = 100000, .count = 65536}};
    facts.subgids = {{.start = 100000, .count = 65536}};
    facts.cgroup_v2 =
        v2("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice", {"cpu", "memory", "pids"});
    return facts;
}

host::HostFacts bare_user() {
    host::HostFacts facts = user();
    facts.cgroup_v2 = v2("/sys/fs/cgroup/session.scope", {});
    facts.cgroup_v2->parent.reset();
    return facts;
}

host::HostFacts user_in_a_session() {
    host::HostFacts facts = bare_user();
    facts.user_manager = {.bus = "/run/user/1000/bus",
                          .directory = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service",
                          .controllers = {"cpu", "memory", "pids"},
                          .refusal = {}};
    return facts;
}

}  // namespace coracle::testing

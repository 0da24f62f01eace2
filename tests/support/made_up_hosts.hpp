// Hosts that are made up, one a kind, for plans that do not depend on the machine that tests them.
#pragma once

#include "host/facts.hpp"

namespace coracle::testing {

host::HostFacts root_on_v2();
host::HostFacts root_on_v1();      // memory, cpu, cpuacct, pids, blkio, freezer
host::HostFacts root_on_hybrid();  // v1 with a v2 hierarchy that has no controllers
host::HostFacts root_without_cgroups();
host::HostFacts user_with_delegation();  // subordinate ids and a cgroup v2 of its own
host::HostFacts bare_user();             // one id, no writable cgroup
host::HostFacts user_in_a_session();     // the same in a login session of systemd

}  // namespace coracle::testing

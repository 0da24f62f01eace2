// Makes the golden plans: the defaults, planned for made-up hosts.
#include "support/golden_plans.hpp"

#include "support/planning.hpp"

namespace coracle::testing {

namespace {

// `coracle run busybox -- sh`, with what the image says of itself.
plan::ExecutionPlan busybox_on(host::HostFacts host) {
    Planning world;
    world.image.config.cmd = {"sh"};
    world.image.config.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
    world.image.passwd = "root:x:0:0:root:/root:/bin/sh\n";
    world.image.group = "root:x:0:\n";
    world.host = std::move(host);
    return world.plan();
}

}  // namespace

plan::ExecutionPlan default_root_v2_plan() { return busybox_on(root_on_v2()); }
plan::ExecutionPlan default_root_v1_plan() { return busybox_on(root_on_v1()); }
plan::ExecutionPlan default_rootless_v2_plan() { return busybox_on(user_with_delegation()); }
plan::ExecutionPlan default_rootless_single_plan() { return busybox_on(bare_user()); }

std::vector<GoldenPlan> golden_plans() {
    return {{"default-root-v2", default_root_v2_plan()},
            {"default-root-v1", default_root_v1_plan()},
            {"default-rootless-v2", default_rootless_v2_plan()},
            {"default-rootless-single", default_rootless_single_plan()}};
}

}  // namespace coracle::testing

// Transcribes an ExecutionPlan into the config.json of an OCI bundle. Decides nothing. The only error is a text of the
// plan that is not UTF-8 (invalid_request): JSON cannot carry it, and another text in its place would be another plan.
#pragma once

#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "plan/plan.hpp"
#include "policy/seccomp.hpp"

namespace coracle::runtime_config {

// The config.json that stands alone: plain `runc run` isolates and limits the program as coracle does. Pretty text with
// a final newline; equal plans give equal text. `rootfs/` beside it is the root.
Result<std::string> portable_config(const plan::ExecutionPlan& plan, const policy::SeccompProfile& seccomp);

// What the keeper's runtime needs to know beyond the plan.
struct FastForm {
    std::string root_path{};                               // the mounted root file system
    std::vector<std::string> init_args{"/.coracle-init"};  // of the shim that later becomes the program's parent
    std::string cgroups_path{};                            // empty: the runtime leaves cgroups alone
    std::string scratch_path{};                            // of the run's scratch on disk, where it has one
};

// The config.json that the keeper gives to the runtime, compact. It differs from the portable one in exactly these: the
// process is the init shim (args, env, cwd), which later loads the filter and starts the program; so there is no
// seccomp; the limits are on coracle's own cgroup, so there are no resources; the ids were mapped by the keeper, so
// there is a user namespace only where plan.namespaces.nested_user asks for one; and root.path.
Result<std::string> fast_config(const plan::ExecutionPlan& plan, const FastForm& form);

}  // namespace coracle::runtime_config

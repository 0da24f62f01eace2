// What each kind of ownership means for the unpacking of a layer.
#pragma once

#include <functional>
#include <string>

#include "base/userns.hpp"
#include "coracle/error.hpp"
#include "layer/attributes.hpp"
#include "layer/whiteouts.hpp"
#include "plan/plan.hpp"

namespace coracle::snapshot {

// The folder below layers/<hex>/: "root", "single", "subids-100000-100000". Other subordinate ids own other files.
std::string folder_of(plan::Ownership ownership, const base::IdMaps& maps);
layer::Owners owners_of(plan::Ownership ownership);
layer::OpaqueMark opaque_mark_of(plan::Ownership ownership);

// Runs `act` where the owners can be given: for subids in a child inside the user namespace, else right here.
// What comes back is bytes, since it may come from there.
Result<std::string> run_as(plan::Ownership ownership, const base::IdMaps& maps,
                           const std::function<Result<std::string>()>& act);

// The same for reading and changing a whole tree: for a single id in a user namespace too, where the host has them. In
// there a mode that locks its owner out, such as 0 of /etc/shadow, holds nobody up (CAP_DAC_OVERRIDE, capabilities(7)).
// `act` may be called again after it failed.
Result<std::string> run_unlocked(plan::Ownership ownership, const base::IdMaps& maps,
                                 const std::function<Result<std::string>()>& act);

}  // namespace coracle::snapshot

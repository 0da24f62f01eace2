// Notes that an image is for another machine: its programs may still run, by an emulator that the kernel knows.
#include "oci/platform.hpp"

#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

// The kernel of a 64-bit machine runs programs of its 32-bit ancestor (where it has CONFIG_IA32_EMULATION,
// CONFIG_COMPAT).
bool may_run(const oci::Platform& built_for, const oci::Platform& machine) {
    if (built_for.os != machine.os) return false;
    return built_for.architecture == machine.architecture ||
           (built_for.architecture == "386" && machine.architecture == "amd64") ||
           (built_for.architecture == "arm" && machine.architecture == "arm64");
}

}  // namespace

void note_platform(const PlanInput& input, ExecutionPlan& plan) {
    const oci::ImageConfig& config = input.image.config;
    if (config.os.empty() || config.architecture.empty()) return;
    const oci::Platform built_for{config.os, config.architecture, config.variant};
    const oci::Platform machine = oci::this_platform();
    if (may_run(built_for, machine)) return;
    plan.foreign_platform = oci::to_string(built_for);
    plan.warnings.push_back("the image is for " + plan.foreign_platform + ", this machine is " +
                            oci::to_string(machine) + ": its programs need an emulator");
}

}  // namespace coracle::plan

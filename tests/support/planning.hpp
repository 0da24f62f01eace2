// A request, an image and a host that a test changes, and the plan of the three.
#pragma once

#include <algorithm>

#include "plan/make_plan.hpp"
#include "support/made_up_hosts.hpp"
#include "support/test_dir.hpp"

namespace coracle::testing {

struct Planning {
    Request request = [] {
        Request made;
        made.image = "busybox";
        made.command = {"sh"};
        return made;
    }();
    plan::ImageFacts image{};
    host::HostFacts host = root_on_v2();
    std::vector<plan::VolumeFacts> volumes{};

    plan::PlanInput input() const {
        return {.request = request, .image = image, .host = host, .volumes = volumes, .basis = {}};
    }
    plan::ExecutionPlan plan(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return test::must(plan::make_plan(input()), file, line);
    }
    Error refusal(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return test::must_fail(plan::make_plan(input()), file, line);
    }
};

// The value of an environment variable of the plan; "(none)" where it is not set.
inline std::string env_of(const plan::ExecutionPlan& plan, const std::string& name) {
    for (const std::string& line : plan.process.env) {
        if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    }
    return "(none)";
}

inline const plan::Mount* mount_on(const plan::ExecutionPlan& plan, const std::string& destination) {
    const auto& mounts = plan.mounts;
    const auto found =
        std::find_if(mounts.begin(), mounts.end(), [&](const auto& it) { return it.destination == destination; });
    return found == mounts.end() ? nullptr : &*found;
}

inline const plan::MountPoint* mount_point_of(const plan::ExecutionPlan& plan, const std::string& path) {
    const auto& points = plan.rootfs.mount_points;
    const auto found = std::find_if(points.begin(), points.end(), [&](const auto& it) { return it.path == path; });
    return found == points.end() ? nullptr : &*found;
}

inline const plan::GeneratedFile* generated_file(const plan::ExecutionPlan& plan, const std::string& path) {
    const auto& files = plan.rootfs.generated;
    const auto found = std::find_if(files.begin(), files.end(), [&](const auto& it) { return it.path == path; });
    return found == files.end() ? nullptr : &*found;
}

// "67112960": the soft limit where it equals the hard one; "(none)" where the plan has no such limit.
inline std::string rlimit_of(const plan::ExecutionPlan& plan, const std::string& type) {
    for (const plan::Rlimit& limit : plan.process.rlimits) {
        if (limit.type == type) return limit.soft == limit.hard ? std::to_string(limit.soft) : "(soft is not hard)";
    }
    return "(none)";
}

}  // namespace coracle::testing

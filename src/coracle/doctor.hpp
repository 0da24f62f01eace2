// What this host can do for sandboxes, what is lost on it, and the one command that fixes each.
#pragma once

#include <string>
#include <vector>

#include "coracle/result.hpp"

namespace coracle {

enum class Health {
    good,  // works
    weak,  // sandboxes run, but less holds or less can be had
    bad,   // no sandbox runs
};

struct Finding {
    std::string subject;  // "runtime", "user namespaces", "cgroups"
    Health health = Health::good;
    std::string detail;  // what was seen: "runc 1.1.5 at /usr/sbin/runc"
    std::string lost;    // what that costs; empty where nothing is lost
    std::string fix;     // one command; empty where nothing is to be done, or nothing can be
};

struct DoctorReport {
    std::vector<Finding> findings;
    // A sandbox of the host's own programs that was run last, with the defaults.
    RunResult probe;

    bool usable() const { return probe.success(); }
};

}  // namespace coracle

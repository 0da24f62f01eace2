// Turns facts about this host into findings, without side effects.
#pragma once

#include <string>
#include <vector>

#include "coracle/doctor.hpp"
#include "host/facts.hpp"
#include "host/namespace_steps.hpp"

namespace coracle::plan {

struct Observations {
    const host::HostFacts& host;
    host::NamespaceSteps steps;
    std::string runc_version;  // empty: there is none, or it does not answer
    std::string crun_version;
    std::string user;           // login name
    bool image_program = true;  // coracle-image is there
    bool systemd = false;       // it is the host's init
};

std::vector<Finding> diagnose(const Observations& seen);

}  // namespace coracle::plan

// The command line of runc and crun; the only place that knows how they differ.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace coracle::runtime {

struct CommandLine {
    std::string id;      // of the container; must differ from the name of any cgroup it is in
    std::string bundle;  // directory of config.json
    std::string stage;   // state, log and pid file lie below it
    bool manages_cgroups = false;
};

// Create and start detached: the runtime is gone before the program runs. Descriptor 3 is passed to init.
std::vector<std::string> run_detached(const plan::Runtime& runtime, const CommandLine& line);

}  // namespace coracle::runtime

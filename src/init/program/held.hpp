// Reads what the calling process is held by, for the record: capabilities, filter, namespaces, rlimits, CPUs, mounts.
#pragma once

#include <string>
#include <vector>

#include "init/protocol.hpp"

namespace coracle::init {

// `measured`: mount points whose size is asked for.
Held read_held(const std::vector<std::string>& measured);

}  // namespace coracle::init

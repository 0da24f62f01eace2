// Adds up the memory of a tree of processes, for hosts where no cgroup counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "coracle/units.hpp"

namespace coracle::supervisor {

// `root` and all that descend from it and have not been handed to a parent outside (a PID 1 keeps its orphans). Needs
// /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
std::vector<pid_t> process_tree(pid_t root);

// Pages in RAM, shared ones once for each process that maps them (statm, proc(5)): at least what the tree holds, cheap.
Bytes resident(const std::vector<pid_t>& processes);

// Pages in RAM, each shared one in equal parts (Pss of smaps_rollup, proc(5)): right, but walks page tables. A process
// that may not be looked at counts as in resident(). Neither counts page cache or tmpfs.
Bytes proportional(const std::vector<pid_t>& processes);

// The highest sum that was seen, and whether it went above the limit.
class MemoryWatch {
public:
    MemoryWatch(pid_t root, Bytes limit) : root_(root), limit_(limit) {}

    // True: the processes hold more than the limit now.
    bool look();
    Bytes peak() const { return peak_; }
    Bytes limit() const { return limit_; }

private:
    pid_t root_;
    Bytes limit_;
    Bytes peak_;
};

}  // namespace coracle::supervisor

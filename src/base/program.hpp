// Runs a short program to its end: a text in, a bounded text out, a deadline.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::base {

struct ProgramCall {
    std::vector<std::string> argv;  // the first is looked up in PATH where it has no slash
    std::string input;              // its stdin; at most 4 KiB, which a pipe takes before there is a reader
    bool inherit_env = true;
    Bytes most_output = 64_KiB;
    std::chrono::milliseconds patience = std::chrono::seconds(30);
};

struct ProgramEnd {
    int wait_status = 0;  // as waitpid(2) gives it
    std::string output;   // its stdout; stderr goes nowhere

    bool succeeded() const { return wait_status == 0; }
};

// In a process group of its own, which is killed at the end: a helper's own children do not stay. Only stdin, stdout
// and stderr are open in it. Error: not_found, unavailable (no end in time), corrupt (more output than the bound).
Result<ProgramEnd> run_program(const ProgramCall& call);

}  // namespace coracle::base

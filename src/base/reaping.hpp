// What every process that waits for children needs: their signal as a descriptor, the clock, and their times.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "base/unique_fd.hpp"

namespace coracle::base {

// CLOCK_MONOTONIC in nanoseconds.
std::int64_t monotonic_ns();

std::int64_t microseconds(const timeval& time);

// Blocks every signal of the calling thread; the descriptor is readable once a child has ended (signalfd(2)).
UniqueFd block_signals_but_children();
// Takes what made it readable.
void drain_child_signals(const UniqueFd& child_signals);

}  // namespace coracle::base

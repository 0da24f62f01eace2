// What the keeper waits for.
#pragma once

#include "base/unique_fd.hpp"

namespace coracle::runtime::keeper {

enum class Event { child, coracle_message, coracle_gone, time };

// Waits for a child's end, a message of coracle's, coracle's end, or a time. Blocks all signals from its birth on.
class Waiter {
public:
    Waiter();
    Event next(int milliseconds = -1) const;  // -1: no time

private:
    base::UniqueFd child_signals_;
};

}  // namespace coracle::runtime::keeper

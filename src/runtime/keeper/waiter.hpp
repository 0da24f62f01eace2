// What the keeper waits for.
#pragma once

#include "base/unique_fd.hpp"

namespace coracle::runtime::keeper {

enum class Event { child, coracle_message, coracle_gone };

// Waits for a child's end, a message of coracle's, or coracle's end. Blocks all signals from its birth on.
class Waiter {
public:
    Waiter();
    Event next() const;

private:
    base::UniqueFd child_signals_;
};

}  // namespace coracle::runtime::keeper

// Implements the keeper's waiting.
#include "runtime/keeper/waiter.hpp"

#include <poll.h>

#include <array>

#include "base/reaping.hpp"
#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

Waiter::Waiter() : child_signals_(base::block_signals_but_children()) {}

Event Waiter::next(int milliseconds) const {
    std::array<pollfd, 3> waits{
        {{keeper_supervisor_fd, POLLIN, 0}, {child_signals_.get(), POLLIN, 0}, {keeper_channel_fd, POLLIN, 0}}};
    int ready = -1;
    while ((ready = ::poll(waits.data(), waits.size(), milliseconds)) < 0) continue;
    if (ready == 0) return Event::time;
    if (waits[0].revents != 0) return Event::coracle_gone;
    if (waits[1].revents == 0) return Event::coracle_message;
    base::drain_child_signals(child_signals_);
    return Event::child;
}

}  // namespace coracle::runtime::keeper

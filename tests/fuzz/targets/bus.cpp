// Messages that come over a D-Bus connection.
#include "cgroup/dbus.hpp"
#include "fuzz/targets.hpp"

namespace coracle::fuzz {

void bus(std::string_view input) {
    using namespace cgroup::dbus;
    (void)size_of(input.substr(0, head_size));
    const auto message = unpack(input);
    if (!message) return;
    const auto again = unpack(pack(*message, 1));
    promise(again.has_value(), "what was read can be written");
    promise(again->body == message->body && again->member == message->member && again->answers == message->answers,
            "a message reads as it was written");
}

}  // namespace coracle::fuzz

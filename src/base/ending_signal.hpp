// Tells the signals that ask a program to end from those that tell it something.
#pragma once

#include <csignal>

namespace coracle::base {

constexpr bool asks_for_the_end(int number) {
    return number == SIGINT || number == SIGHUP || number == SIGQUIT || number == SIGTERM || number == SIGKILL;
}

}  // namespace coracle::base

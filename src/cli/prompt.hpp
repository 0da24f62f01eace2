// Asks a person at a terminal for one line.
#pragma once

#include <string>
#include <string_view>

#include "coracle/error.hpp"

namespace coracle::cli {

enum class Echo { on, off };

// `question` goes to `out`, the answer comes from the terminal `in`, at most 4 KiB. With Echo::off it is not shown; the
// terminal is as before afterwards, also where a signal ends the program while it waits.
Result<std::string> ask(int in, int out, std::string_view question, Echo echo);

}  // namespace coracle::cli

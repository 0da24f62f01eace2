// Prints a plan with every decision in it, for `coracle plan`.
#pragma once

#include <string>

#include "engine/prepared.hpp"

namespace coracle::engine {

// JSON text, two spaces of indent, a final newline. Equal plans give equal text.
std::string explain_plan(const Prepared& prepared);

}  // namespace coracle::engine

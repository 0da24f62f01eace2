// Compiles the plan's vocabulary on its own.
#include "plan/plan.hpp"

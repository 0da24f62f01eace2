// Implements the words of the record and the exit status that stands for it.
#include "coracle/result.hpp"

#include <array>

namespace coracle {

std::string_view to_string(Reason reason) {
    constexpr std::array<std::string_view, 14> names{"exited",         "signaled",    "wall_timeout", "cpu_timeout",
                                                     "idle_timeout",   "oom",         "output_limit", "storage_limit",
                                                     "cancelled",      "exec_failed", "setup_failed", "image_failed",
                                                     "policy_refused", "internal"};
    return names[static_cast<std::size_t>(reason)];
}

bool is_timeout(Reason reason) {
    return reason == Reason::wall_timeout || reason == Reason::cpu_timeout || reason == Reason::idle_timeout;
}

int exit_status(const RunResult& result) {
    switch (result.reason) {
        case Reason::exited:
        case Reason::exec_failed: return result.exit_code.value_or(125);
        case Reason::signaled:
        case Reason::cancelled: return result.signal ? 128 + *result.signal : result.exit_code.value_or(125);
        case Reason::wall_timeout:
        case Reason::cpu_timeout:
        case Reason::idle_timeout: return 124;
        case Reason::oom: return 137;
        case Reason::output_limit:
        case Reason::storage_limit: return 122;
        case Reason::policy_refused: return 123;
        case Reason::setup_failed:
        case Reason::image_failed:
        case Reason::internal: return 125;
    }
    return 125;
}

}  // namespace coracle

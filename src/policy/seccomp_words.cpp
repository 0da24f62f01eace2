// Finds errno values by their names.
#include "policy/seccomp_words.hpp"

#include <cstring>

namespace coracle::policy {

std::optional<std::uint16_t> errno_of(std::string_view name) {
    constexpr std::uint16_t last = 133;  // EHWPOISON, include/uapi/asm-generic/errno.h
    for (std::uint16_t number = 1; number <= last; ++number) {
        const char* known = ::strerrorname_np(number);
        if (known != nullptr && name == known) return number;
    }
    return std::nullopt;
}

}  // namespace coracle::policy

// The words of the OCI runtime specification for actions, comparisons and architectures of seccomp, and errno names.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "policy/seccomp.hpp"

namespace coracle::policy {

template <class Value>
struct Word {
    std::string_view name;
    Value value;
};

// The first word of a value is the one that is written.
inline constexpr std::array<Word<SeccompVerdict>, 7> verdict_words{{
    {"SCMP_ACT_ALLOW", SeccompVerdict::allow},
    {"SCMP_ACT_LOG", SeccompVerdict::log},
    {"SCMP_ACT_ERRNO", SeccompVerdict::fail},
    {"SCMP_ACT_TRAP", SeccompVerdict::trap},
    {"SCMP_ACT_KILL_THREAD", SeccompVerdict::kill_thread},
    {"SCMP_ACT_KILL", SeccompVerdict::kill_thread},
    {"SCMP_ACT_KILL_PROCESS", SeccompVerdict::kill_process},
}};

inline constexpr std::array<Word<Comparison>, 7> comparison_words{{
    {"SCMP_CMP_NE", Comparison::not_equal},
    {"SCMP_CMP_LT", Comparison::less},
    {"SCMP_CMP_LE", Comparison::less_equal},
    {"SCMP_CMP_EQ", Comparison::equal},
    {"SCMP_CMP_GE", Comparison::greater_equal},
    {"SCMP_CMP_GT", Comparison::greater},
    {"SCMP_CMP_MASKED_EQ", Comparison::masked_equal},
}};

template <class Words>
auto find_word(const Words& words, std::string_view name) -> std::optional<decltype(words[0].value)> {
    for (const auto& word : words) {
        if (word.name == name) return word.value;
    }
    return std::nullopt;
}

template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
    for (const auto& word : words) {
        if (word.value == value) return word.name;
    }
    return {};
}

// The architecture that coracle was built for, as the OCI runtime specification and as Go and Docker call it.
#if defined(__x86_64__)
inline constexpr std::string_view native_seccomp_arch = "SCMP_ARCH_X86_64";
inline constexpr std::string_view native_go_arch = "amd64";
#elif defined(__aarch64__)
inline constexpr std::string_view native_seccomp_arch = "SCMP_ARCH_AARCH64";
inline constexpr std::string_view native_go_arch = "arm64";
#else
#error "add this architecture's names"
#endif

// "EPERM" -> 1; nothing for a word that is no errno.
std::optional<std::uint16_t> errno_of(std::string_view name);

}  // namespace coracle::policy

// A seccomp profile as a plain value: which system calls a program may make and what the others answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::policy {

enum class SeccompVerdict { allow, log, fail, trap, kill_thread, kill_process };

// What the kernel does with a call. `error` is the errno that a call answers with where the verdict is `fail`.
struct SeccompAction {
    SeccompVerdict verdict = SeccompVerdict::allow;
    std::uint16_t error = 0;
    bool operator==(const SeccompAction&) const = default;
    bool permits() const { return verdict == SeccompVerdict::allow || verdict == SeccompVerdict::log; }
};

enum class Comparison { not_equal, less, less_equal, equal, greater_equal, greater, masked_equal };

// A test of one argument of a call, all 64 bits of it. masked_equal: (argument & value) == value_two.
struct ArgumentTest {
    std::uint32_t index = 0;  // 0 to 5
    Comparison comparison = Comparison::equal;
    std::uint64_t value = 0;
    std::uint64_t value_two = 0;
    bool operator==(const ArgumentTest&) const = default;
};

// The action for the calls `names` whose arguments pass every test, which name different arguments.
struct SeccompRule {
    std::vector<std::string> names;
    SeccompAction action;
    std::vector<ArgumentTest> tests;
    bool operator==(const SeccompRule&) const = default;
};

// Rules of one call that can both match have the same action, so their order does not matter.
struct SeccompProfile {
    SeccompAction default_action;  // of a call that no rule matches
    std::vector<SeccompRule> rules;
    bool operator==(const SeccompProfile&) const = default;
    // False for "unconfined": there is nothing to load.
    bool confines() const { return default_action.verdict != SeccompVerdict::allow || !rules.empty(); }
};

// Reads a profile in coracle's form (profiles/seccomp/README.md) or in that of Docker and the OCI runtime
// specification, told apart by content. What it grants to certain capabilities holds for a program with exactly
// `capabilities` ("CAP_CHOWN"). Error: invalid_request, naming the place in the text.
Result<SeccompProfile> parse_seccomp(std::string_view text, const std::vector<std::string>& capabilities = {});

// The profile of that name ("default"), no profile ("unconfined"), or the file of that path (anything with a slash).
// Error: not_found with the names there are, or parse_seccomp's, naming the file.
Result<SeccompProfile> find_seccomp(const std::string& name_or_path, const std::vector<std::string>& capabilities = {});

}  // namespace coracle::policy

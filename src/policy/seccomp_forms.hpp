// The two written forms of a seccomp profile, once the text is known to be a JSON object.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/json_fields.hpp"
#include "policy/seccomp.hpp"

namespace coracle::policy {

// coracle's own: named groups of calls, described in profiles/seccomp/README.md.
Result<SeccompProfile> read_grouped_form(const Json& object, const std::vector<std::string>& capabilities);
// Docker's and the OCI runtime specification's: `defaultAction` and `syscalls`.
Result<SeccompProfile> read_oci_form(const Json& object, const std::vector<std::string>& capabilities);

// The text of a profile that is built into coracle, and the names of all of them.
std::optional<std::string_view> embedded_seccomp(std::string_view name);
std::vector<std::string_view> embedded_seccomp_names();

// Error for a word that cannot be the name of a system call.
Result<> check_call_names(const Place& where, const std::vector<std::string>& names);

}  // namespace coracle::policy

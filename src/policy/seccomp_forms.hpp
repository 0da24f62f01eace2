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

// Changes with every change of a built-in profile or of the code that reads profiles.
std::string_view seccomp_revision();

inline constexpr std::string_view unconfined_seccomp = "unconfined";
// A profile's text as written, built in or from its file. Error: not_found with the names there are, or the file's.
Result<std::string> seccomp_text(const std::string& name_or_path);
// "seccomp profile 'NAME'", for the front of messages.
std::string seccomp_context(const std::string& name_or_path);

// Error for a word that cannot be the name of a system call.
Result<> check_call_names(const Place& where, const std::vector<std::string>& names);

}  // namespace coracle::policy

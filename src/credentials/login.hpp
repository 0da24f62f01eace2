// Writes and removes what `coracle login` keeps in an auth file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "credentials/credentials.hpp"

namespace coracle::credentials {

// The registry of a login, as references write it; a repository's path may follow the host. Error: invalid_request.
Result<std::string> parse_registry(std::string_view text);

// Both change the file under a lock and replace it whole, mode 0600; what they do not know in it stays as it is.
// Error: unsupported where the file leaves the registry to a credential helper.
Result<> store_credentials(const std::filesystem::path& file, const std::string& registry, const Credentials& added);
// False: there was nothing to remove.
Result<bool> remove_credentials(const std::filesystem::path& file, const std::string& registry);
Result<bool> remove_all_credentials(const std::filesystem::path& file);

}  // namespace coracle::credentials

// Starts coracle-image, the program that speaks HTTP and TLS, hands it one job and hears its lines.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "coracle/error.hpp"
#include "oci/json.hpp"

namespace coracle::handoff {

// `configured`, else beside this program, else <prefix>/libexec/coracle/. Error: unsupported, with the fix.
Result<std::filesystem::path> find_image_program(const std::optional<std::filesystem::path>& configured);

// Runs it to its end; each line but the last goes to `on_line`. The answer is the value of "images". Error: what it
// says, or internal where it ends without a word. It ends when this process does, however that ends.
Result<oci::Json> ask_image_program(const std::filesystem::path& program, const oci::Json& job,
                                    const std::function<void(const oci::Json& line)>& on_line);

}  // namespace coracle::handoff

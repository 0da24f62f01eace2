// Reads a file of an image without mounting it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::snapshot {

// The regular file that a process in the image would see as `path` ("etc/passwd"), from the layers that prepare()
// gave, lowest first: whiteouts and opaque directories hide, links are followed inside the image. No value where there
// is none. Error: corrupt for what is no regular file, is larger than `bound`, or is a loop of links. Never blocks and
// never reads outside the layers.
Result<std::optional<std::string>> read_merged(const std::vector<std::filesystem::path>& layers,
                                               const std::string& path, Bytes bound);

}  // namespace coracle::snapshot

// Writes what the store tells about its images as JSON, one document a line.
#pragma once

#include <string>

#include "coracle/images.hpp"

namespace coracle::cli {

// {"images": [...]}
std::string images_json(const std::vector<ImageInfo>& images);
// {"image": {...}}, the configuration as the image has it
std::string details_json(const ImageDetails& details);
// {"dry_run": ..., "removed": [...], ...}
std::string removal_json(const RemovalReport& report, bool dry_run);
// {"images": [...], "blobs": {...}, ...}
std::string usage_json(const DiskUsage& usage);

}  // namespace coracle::cli

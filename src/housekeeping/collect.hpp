// Removes what no image needs: after names were taken away, and on request of images that were not used for long.
#pragma once

#include <string>
#include <vector>

#include "coracle/images.hpp"
#include "housekeeping/inventory.hpp"

namespace coracle::housekeeping {

// The order of removal and its locks: content/paths.hpp. Errors: unavailable while an image comes in.
Result<RemovalReport> collect(const content::Store& store, const Owner& owner, const GcRequest& request);

// Takes the names away that `refs` mean - all of an image for a digest - then collects. Content that cannot be
// collected right now is left to a later collect(), with a warning. Error: not_found, and then nothing has changed.
Result<RemovalReport> remove_names(const content::Store& store, const Owner& owner,
                                   const std::vector<std::string>& refs);

// The sizes on disk by image.
Result<DiskUsage> disk_usage(const content::Store& store, const Owner& owner);

}  // namespace coracle::housekeeping

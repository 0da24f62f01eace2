// The flat tree of an image, for hosts without overlayfs: unpacked once, kept in the store, shared by all runs.
#pragma once

#include <filesystem>

#include "base/userns.hpp"
#include "content/store.hpp"
#include "image/image.hpp"
#include "layer/limits.hpp"
#include "plan/plan.hpp"

namespace coracle::snapshot {

// The directory with all layers of the image in one tree. Where it is missing it is made, whole or not at all, also for
// others who make the same one.
Result<std::filesystem::path> flat_tree(const content::Store& store, const image::Image& image,
                                        plan::Ownership ownership, const base::IdMaps& maps,
                                        const layer::Limits& limits = {});

}  // namespace coracle::snapshot

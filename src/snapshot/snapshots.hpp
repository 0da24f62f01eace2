// Unpacked layers of images: one tree per layer and ownership for overlayfs, or all layers in one flat tree.
#pragma once

#include <filesystem>
#include <vector>

#include "base/userns.hpp"
#include "content/store.hpp"
#include "image/image.hpp"
#include "layer/limits.hpp"
#include "plan/plan.hpp"

namespace coracle::snapshot {

class Snapshots {
public:
    // `store` must outlive it.
    explicit Snapshots(const content::Store& store, layer::Limits limits = {}) : store_(store), limits_(limits) {}

    // The directories to stack, lowest first; at least one. Layers that are not unpacked yet are, verified, and appear
    // whole or not at all - also to others who unpack the same ones. A layer that occurs twice is given once, and what
    // an opaque root hides is left out: overlayfs would refuse the one and overlook the other. `maps` is for
    // Ownership::subids, whose unpacking runs in that user namespace.
    Result<std::vector<std::filesystem::path>> prepare(const image::Image& image, plan::Ownership ownership,
                                                       const base::IdMaps& maps) const;

    // Copies what prepare() stacks into `target`, a new or empty directory. After an Error it is empty.
    Result<> flatten(const image::Image& image, plan::Ownership ownership, const base::IdMaps& maps,
                     const std::filesystem::path& target) const;

private:
    const content::Store& store_;
    layer::Limits limits_;
};

}  // namespace coracle::snapshot

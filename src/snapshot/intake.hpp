// Takes layers into the store: blob and unpacked tree in one pass over the bytes, wherever they come from.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/userns.hpp"
#include "content/store.hpp"
#include "layer/byte_source.hpp"
#include "layer/limits.hpp"
#include "oci/descriptor.hpp"
#include "plan/plan.hpp"

namespace coracle::snapshot {

using OpenSource = std::function<Result<std::unique_ptr<layer::ByteSource>>()>;

// A layer of an image and where its bytes can be had. `open` is called at most once, on any thread, and not at all
// where the store has blob and tree already; without it the blob must be in the store.
struct IncomingLayer {
    oci::Descriptor descriptor;
    oci::DiffId diff_id;
    OpenSource open;
};

// So many bytes of a layer's blob have come. May be called on any thread.
using Progress = std::function<void(const oci::Descriptor& layer, std::uint64_t bytes)>;

struct IntakeOptions {
    plan::Ownership ownership = plan::Ownership::root;
    base::IdMaps maps{};     // for Ownership::subids, whose trees are written in that user namespace
    bool in_userns = false;  // the caller entered it already; else a child is forked that does
    layer::Limits limits{};
    unsigned parallel = 1;  // layers at once; above 1 threads are made
    Progress progress{};
};

// What a layer turned out to be of which nothing was known.
struct TakenLayer {
    content::BlobInfo blob;
    oci::DiffId diff_id;
};

class Intake {
public:
    // `store` must outlive it.
    Intake(const content::Store& store, IntakeOptions options) : store_(store), options_(std::move(options)) {}

    // All layers of one image, lowest first. Blob and tree of a layer become visible only when its digest, size and
    // diff_id are proven; after an Error nothing of the layer at fault is left. Several processes that take the same
    // layer do its work once.
    Result<> take(const std::vector<IncomingLayer>& layers);

    // The same for a lowest layer that nothing promises anything about: a root file system. `size` bounds how much it
    // may unpack to.
    Result<TakenLayer> take_unnamed(const OpenSource& open, std::uint64_t size);

    // What the layers asked for and did not get, such as devices.
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    const content::Store& store_;
    IntakeOptions options_;
    std::vector<std::string> warnings_;
};

}  // namespace coracle::snapshot

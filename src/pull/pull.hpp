// Brings an image from a registry into the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coracle/engine.hpp"
#include "credentials/credentials.hpp"
#include "handoff/pull_job.hpp"
#include "image/image.hpp"
#include "oci/platform.hpp"
#include "oci/reference.hpp"
#include "registry/http.hpp"
#include "snapshot/intake.hpp"

namespace coracle::pull {

using Event = PullEvent;
using Progress = PullProgress;  // called from several threads, for one layer by one at a time

struct Order {
    oci::Reference reference;
    std::optional<oci::Platform> platform;  // absent: this machine's, and one image for another one is taken as well
    snapshot::IntakeOptions intake;
};

// Error: invalid_request for a name or a platform that is none.
Result<Order> make_order(const handoff::PullJob& job);

struct Pulled {
    image::Image image;
    std::vector<std::string> warnings;
};

// Reference, platform, config, layers, name: in this order, so that what has a name is whole. What the store holds is
// not asked for again. Registries are asked as `http` and its settings say, with what `sources` know about them.
Result<Pulled> pull(const content::Store& store, const registry::Http& http, const credentials::Sources& sources,
                    const Order& order, const Progress& progress);

}  // namespace coracle::pull

// Brings an image from a registry into the store.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coracle/engine.hpp"
#include "image/image.hpp"
#include "oci/platform.hpp"
#include "oci/reference.hpp"
#include "pull/places.hpp"
#include "registry/http.hpp"
#include "snapshot/intake.hpp"

namespace coracle::pull {

using Progress = PullProgress;  // called from several threads

struct Order {
    oci::Reference reference;
    std::optional<oci::Platform> platform;  // absent: this machine's, and one image for another one is taken as well
    std::vector<Target> targets;            // what the reference may mean, first to last; at least one
    snapshot::IntakeOptions intake{};       // without progress, which is told as well
};

// What the request means, with all that the caller's files say about it. Error: invalid_request for a name or a
// platform that is none, denied for what the settings block.
Result<Order> make_order(const PullRequest& request, const policy::RegistrySettings& settings,
                         const credentials::Sources& sources, std::vector<std::string>& warnings);

struct Pulled {
    image::Image image;
    std::vector<std::string> warnings;
};

// Reference, platform, config, layers, name: in this order, so that what has a name is whole. What the store holds is
// not asked for again.
Result<Pulled> pull(const content::Store& store, const registry::Http& http, const Order& order,
                    const Progress& progress);

}  // namespace coracle::pull

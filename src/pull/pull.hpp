// Brings an image from a registry into the store.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "credentials/credentials.hpp"
#include "image/image.hpp"
#include "oci/platform.hpp"
#include "oci/reference.hpp"
#include "registry/http.hpp"
#include "snapshot/intake.hpp"

namespace coracle::pull {

// What is told on the way; from several threads, one call at a time for one layer.
struct Event {
    enum class Kind {
        manifest,  // `digest` is the image that the reference means
        layer,     // `bytes` of `total` have come
        present,   // this layer was in the store
    };
    Kind kind = Kind::layer;
    std::string digest;
    std::uint64_t bytes = 0;
    std::uint64_t total = 0;
};
using Progress = std::function<void(const Event&)>;

struct Order {
    oci::Reference reference;
    std::optional<oci::Platform> platform;  // absent: this machine's, and one image for another one is taken as well
    snapshot::IntakeOptions intake;
};

struct Pulled {
    image::Image image;
    std::vector<std::string> warnings;
};

// Reference, platform, config, layers, name: in this order, so that what has a name is whole. What the store holds is
// not asked for again. Registries are asked as `http` and its settings say, with what `sources` know about them.
Result<Pulled> pull(const content::Store& store, const registry::Http& http, const credentials::Sources& sources,
                    const Order& order, const Progress& progress);

}  // namespace coracle::pull

// The platform an image is built for, this machine's, and the choice between several.
#pragma once

#include <string>
#include <string_view>

#include "coracle/error.hpp"

namespace coracle::oci {

struct Platform {
    std::string os;            // "linux"
    std::string architecture;  // "amd64", as Go spells it
    std::string variant;       // "v7", may be empty
    bool operator==(const Platform&) const = default;
};

// What this program was built for: the kernel runs its binaries.
Platform this_platform();

// How well an image for `offered` runs on `wanted`: 0 not at all, higher is better. An empty variant fits every one of
// its architecture; of two arm variants up to the machine's own, the newer is better.
int fitness(const Platform& offered, const Platform& wanted);

// "linux/arm64" or "linux/arm/v7". Error: invalid_request, naming the text.
Result<Platform> parse_platform(std::string_view text);

std::string to_string(const Platform& platform);  // "linux/arm/v7"

}  // namespace coracle::oci

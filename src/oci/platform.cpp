// Implements platforms: the names that Go's GOARCH gives the architectures.
#include "oci/platform.hpp"

#include <algorithm>

namespace coracle::oci {

namespace {

constexpr const char* built_for() {
#if defined(__x86_64__)
    return "amd64";
#elif defined(__aarch64__)
    return "arm64";
#elif defined(__arm__)
    return "arm";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
    return "ppc64le";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__i386__)
    return "386";
#else
    return "unknown";
#endif
}

// "v7" -> 7; what is no such word counts as 0.
int version_of(const std::string& variant) {
    const bool plain = variant.size() == 2 && variant[0] == 'v' && variant[1] >= '0' && variant[1] <= '9';
    return plain ? variant[1] - '0' : 0;
}

std::string own_variant() {
    const std::string architecture = built_for();
    if (architecture == "arm64") return "v8";
    if (architecture == "arm") return "v7";
    return "";  // x86-64-v2 and up need a CPU that nobody checked here
}

}  // namespace

Platform this_platform() { return Platform{"linux", built_for(), own_variant()}; }

int fitness(const Platform& offered, const Platform& wanted) {
    if (offered.os != wanted.os || offered.architecture != wanted.architecture) return 0;
    if (offered.variant.empty()) return 1;
    const int version = version_of(offered.variant);
    // "v1" is every architecture's base line.
    return version > std::max(version_of(wanted.variant), 1) ? 0 : 1 + version;
}

std::string to_string(const Platform& platform) {
    std::string text = platform.os + "/" + platform.architecture;
    if (!platform.variant.empty()) text += "/" + platform.variant;
    return text;
}

}  // namespace coracle::oci

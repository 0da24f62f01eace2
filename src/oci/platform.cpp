// Implements platforms: the names that Go's GOARCH gives the architectures.
#include "oci/platform.hpp"

#include <algorithm>
#include <array>

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

Result<Platform> parse_platform(std::string_view text) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/'; };
    std::array<std::string, 4> parts;
    std::size_t count = 0;
    for (std::string_view rest = text; count < parts.size(); ++count) {
        const std::size_t slash = rest.find('/');
        parts[count] = rest.substr(0, slash);
        if (parts[count].empty() || slash == std::string_view::npos) {
            if (!parts[count].empty()) ++count;
            break;
        }
        rest.remove_prefix(slash + 1);
    }
    const auto slashes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
    const bool whole = (count == 2 || count == 3) && slashes + 1 == count;
    if (whole && std::all_of(text.begin(), text.end(), fits)) return Platform{parts[0], parts[1], parts[2]};
    return make_error(ErrorCode::invalid_request, "'" + std::string(text.substr(0, 80)) + "' is not a platform",
                      "write it as OS/ARCH or OS/ARCH/VARIANT, such as linux/arm64");
}

std::string to_string(const Platform& platform) {
    std::string text = platform.os + "/" + platform.architecture;
    if (!platform.variant.empty()) text += "/" + platform.variant;
    return text;
}

}  // namespace coracle::oci

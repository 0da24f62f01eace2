// Implements the digest grammar of the OCI image specification for the two registered algorithms.
#include "oci/digest.hpp"

#include <algorithm>

namespace coracle::oci {

Result<Digest> Digest::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
        const std::string_view algorithm = text.substr(0, colon);
        const std::string_view hex = text.substr(colon + 1);
        const std::size_t wanted = algorithm == "sha256" ? 64 : algorithm == "sha512" ? 128 : 0;
        const bool digits = std::all_of(hex.begin(), hex.end(),
                                        [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
        if (wanted != 0 && hex.size() == wanted && digits) return Digest(std::string(text), colon);
    }
    return make_error(ErrorCode::corrupt,
                      "'" + std::string(text.substr(0, 160)) + "' is not a sha256 or sha512 digest");
}

}  // namespace coracle::oci

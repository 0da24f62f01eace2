// Implements digests over libcrypto, whose SHA-256 is three times as fast as a portable one (it uses SHA-NI).
#include "content/hasher.hpp"

#include <array>

#include "base/try.hpp"

// OpenSSL 3 marks these functions as old. Its newer interface (EVP) loads providers and configuration on first use,
// 1.5 to 2 ms, which is a tenth of a whole run.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace coracle::content {

namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (std::size_t at = 0; at < count; ++at) {
        hex += digits[bytes[at] >> 4U];
        hex += digits[bytes[at] & 15U];
    }
    return hex;
}

}  // namespace

Result<Hasher> Hasher::create(std::string_view algorithm) {
    if (algorithm == "sha256") {
        SHA256_CTX state{};
        ::SHA256_Init(&state);
        return Hasher(state);
    }
    if (algorithm == "sha512") {
        SHA512_CTX state{};
        ::SHA512_Init(&state);
        return Hasher(state);
    }
    return make_error(ErrorCode::unsupported, "digest algorithm " + std::string(algorithm));
}

Result<> Hasher::add(std::string_view bytes) {
    if (auto* const sha256 = std::get_if<SHA256_CTX>(&state_)) {
        ::SHA256_Update(sha256, bytes.data(), bytes.size());
    } else {
        ::SHA512_Update(&std::get<SHA512_CTX>(state_), bytes.data(), bytes.size());
    }
    return {};
}

Result<oci::Digest> Hasher::finish() && {
    std::array<unsigned char, SHA512_DIGEST_LENGTH> value{};
    if (auto* const sha256 = std::get_if<SHA256_CTX>(&state_)) {
        ::SHA256_Final(value.data(), sha256);
        return oci::Digest::parse("sha256:" + hex_of(value.data(), SHA256_DIGEST_LENGTH));
    }
    ::SHA512_Final(value.data(), &std::get<SHA512_CTX>(state_));
    return oci::Digest::parse("sha512:" + hex_of(value.data(), SHA512_DIGEST_LENGTH));
}

Result<oci::Digest> digest_of(std::string_view text, std::string_view algorithm) {
    TRY(Hasher hasher, Hasher::create(algorithm));
    TRY_OK(hasher.add(text));
    return std::move(hasher).finish();
}

}  // namespace coracle::content

// Implements digests over libcrypto, whose SHA-256 is three times as fast as a portable one (it uses SHA-NI).
#include "content/hasher.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/try.hpp"

namespace coracle::content {

namespace {

Error failed(std::string_view act) {
    return make_error(ErrorCode::internal, "libcrypto could not " + std::string(act) + " a digest");
}

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

void Hasher::Free::operator()(evp_md_ctx_st* context) const { ::EVP_MD_CTX_free(context); }

Result<Hasher> Hasher::create(std::string_view algorithm) {
    const EVP_MD* method = algorithm == "sha256" ? ::EVP_sha256() : algorithm == "sha512" ? ::EVP_sha512() : nullptr;
    if (method == nullptr) return make_error(ErrorCode::unsupported, "digest algorithm " + std::string(algorithm));
    std::unique_ptr<EVP_MD_CTX, Free> context(::EVP_MD_CTX_new());
    if (!context || ::EVP_DigestInit_ex(context.get(), method, nullptr) != 1) return failed("begin");
    return Hasher(std::move(context), std::string(algorithm));
}

Result<> Hasher::add(std::string_view bytes) {
    if (::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) return failed("compute");
    return {};
}

Result<oci::Digest> Hasher::finish() && {
    std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
    unsigned length = 0;
    if (::EVP_DigestFinal_ex(context_.get(), value.data(), &length) != 1) return failed("finish");
    return oci::Digest::parse(algorithm_ + ":" + hex_of(value.data(), length));
}

Result<oci::Digest> digest_of(std::string_view text, std::string_view algorithm) {
    TRY(Hasher hasher, Hasher::create(algorithm));
    TRY_OK(hasher.add(text));
    return std::move(hasher).finish();
}

}  // namespace coracle::content

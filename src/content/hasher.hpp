// Computes an OCI digest of bytes as they pass by.
#pragma once

#include <openssl/sha.h>

#include <string>
#include <string_view>
#include <variant>

#include "coracle/error.hpp"
#include "oci/digest.hpp"

namespace coracle::content {

class Hasher {
public:
    // "sha256" or "sha512", as Digest::algorithm() spells them.
    static Result<Hasher> create(std::string_view algorithm);

    Result<> add(std::string_view bytes);
    Result<oci::Digest> finish() &&;

private:
    using State = std::variant<SHA256_CTX, SHA512_CTX>;
    explicit Hasher(State state) : state_(state) {}

    State state_;
};

// The digest of a text at once.
Result<oci::Digest> digest_of(std::string_view text, std::string_view algorithm = "sha256");

}  // namespace coracle::content

// Computes an OCI digest of bytes as they pass by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "oci/digest.hpp"

struct evp_md_ctx_st;

namespace coracle::content {

class Hasher {
public:
    // "sha256" or "sha512", as Digest::algorithm() spells them.
    static Result<Hasher> create(std::string_view algorithm);

    Result<> add(std::string_view bytes);
    Result<oci::Digest> finish() &&;

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    Hasher(std::unique_ptr<evp_md_ctx_st, Free> context, std::string algorithm)
        : context_(std::move(context)), algorithm_(std::move(algorithm)) {}

    std::unique_ptr<evp_md_ctx_st, Free> context_;
    std::string algorithm_;
};

// The digest of a text at once.
Result<oci::Digest> digest_of(std::string_view text, std::string_view algorithm = "sha256");

}  // namespace coracle::content

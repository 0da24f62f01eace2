// Writes one blob into the store: hashed on the way, checked, and visible only when it is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/unique_fd.hpp"
#include "content/hasher.hpp"
#include "content/scratch.hpp"

namespace coracle::content {

// What a finished blob is called and how long it is.
struct BlobInfo {
    oci::Digest digest;
    std::uint64_t size = 0;
};

class BlobWriter {
public:
    static Result<BlobWriter> create(const base::UniqueFd& store, std::string_view algorithm = "sha256");

    Result<> write(std::string_view bytes);
    std::uint64_t size() const { return size_; }

    // Fsyncs and renames to blobs/<algorithm>/<hex>. Two writers of the same blob both succeed.
    Result<BlobInfo> commit() &&;
    // The same, after checking what came against what was promised. Error: corrupt, naming both.
    Result<BlobInfo> commit_as(const oci::Digest& digest, std::uint64_t size) &&;

private:
    BlobWriter(const base::UniqueFd& store, Scratch scratch, base::UniqueFd file, Hasher hasher)
        : store_(store.get()), scratch_(std::move(scratch)), file_(std::move(file)), hasher_(std::move(hasher)) {}
    Result<BlobInfo> publish(BlobInfo info);

    int store_;
    Scratch scratch_;
    base::UniqueFd file_;
    Hasher hasher_;
    std::uint64_t size_ = 0;
};

}  // namespace coracle::content

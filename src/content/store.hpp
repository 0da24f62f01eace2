// The content-addressed store: blobs by digest and names for manifests, on disk as an OCI image layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "content/blob_writer.hpp"
#include "content/scratch.hpp"
#include "oci/descriptor.hpp"
#include "oci/image_index.hpp"

namespace coracle::content {

// Const use from many threads and many processes at once is fine: blobs never change, index.json is replaced whole.
class Store {
public:
    // Makes the store where it is missing, for its owner alone, and sweeps what killed writers left. A complete store
    // without write permission opens for reading. Error with a hint where it cannot be made.
    static Result<Store> open(const std::filesystem::path& root);

    const std::filesystem::path& root() const { return root_; }
    const base::UniqueFd& dir() const { return dir_; }

    bool has(const oci::Digest& digest, std::uint64_t size) const;
    // A regular file of exactly `size` bytes; its content is not checked yet.
    Result<base::UniqueFd> open_blob(const oci::Digest& digest, std::uint64_t size) const;
    // The whole content, checked against the digest. For documents: at most 4 MiB.
    Result<std::string> read_blob(const oci::Digest& digest, std::uint64_t size) const;

    Result<BlobWriter> new_blob(std::string_view algorithm = "sha256") const;
    Result<BlobInfo> write_blob(std::string_view content) const;
    Result<Scratch> new_scratch() const { return Scratch::create(dir_); }

    // An Error of writing below the store: a full disk is named, with the fix.
    Error explained(Error error) const;

    // The manifests in index.json; ref_name is the name, unique.
    Result<std::vector<oci::Descriptor>> tags() const;
    // Names a manifest; a name that is taken moves to the new one.
    Result<> tag(const std::string& name, oci::Descriptor manifest) const;

private:
    Store(std::filesystem::path root, base::UniqueFd dir) : root_(std::move(root)), dir_(std::move(dir)) {}
    std::filesystem::path root_;
    base::UniqueFd dir_;
};

}  // namespace coracle::content

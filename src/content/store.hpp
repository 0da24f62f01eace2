// The content-addressed store: blobs by digest and names for manifests, on disk as an OCI image layout.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "content/blob_writer.hpp"
#include "content/lease.hpp"
#include "content/scratch.hpp"
#include "oci/descriptor.hpp"
#include "oci/image_index.hpp"

namespace coracle::content {

// The name of the image that is none: the host's own programs.
inline constexpr std::string_view reserved_name = "host:latest";

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
    // Names a manifest; a name that is taken moves to the new one. Error: invalid_request for the reserved name.
    Result<> tag(const std::string& name, oci::Descriptor manifest) const;
    // Takes these entries away, all at once. A name that means another manifest by now stays.
    Result<> untag(const std::vector<oci::Descriptor>& entries) const;

    // Who brings content in holds this from before the first look at what is there until it is named: what no name
    // needs yet must not be removed under its hands. Waits for a removal, which is short.
    Result<base::FileLock> begin_intake() const;
    // Who removes holds this while it finds out what nobody needs and moves it away. Error: unavailable where an intake
    // goes on for longer than `patience`.
    Result<base::FileLock> begin_removal(std::chrono::milliseconds patience) const;
    // Null: the manifest is not in the store.
    Result<std::shared_ptr<const Lease>> lease(const oci::Digest& manifest) const {
        return Lease::take(dir_, manifest);
    }

private:
    Store(std::filesystem::path root, base::UniqueFd dir) : root_(std::move(root)), dir_(std::move(dir)) {}
    Result<> replace_tags(const std::function<void(std::vector<oci::Descriptor>&)>& change) const;
    std::filesystem::path root_;
    base::UniqueFd dir_;
};

}  // namespace coracle::content

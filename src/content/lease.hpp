// Keeps an image where it is while somebody uses it: a shared lock on the blob of its manifest.
#pragma once

#include <memory>
#include <optional>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "oci/digest.hpp"

namespace coracle::content {

// It goes with its holder, however that ends. One descriptor, and nothing is written but the blob's time, which tells
// when the image was last used.
class Lease {
public:
    // Waits for a removal that has just begun. Null: the manifest is not in the store.
    static Result<std::shared_ptr<const Lease>> take(const base::UniqueFd& store, const oci::Digest& manifest);
    // For removal: whoever holds it alone may move the manifest away. No value: it is leased, or not there.
    static Result<std::optional<Lease>> take_alone(const base::UniqueFd& store, const oci::Digest& manifest);

private:
    explicit Lease(base::FileLock lock) : lock_(std::move(lock)) {}
    base::FileLock lock_;
};

}  // namespace coracle::content

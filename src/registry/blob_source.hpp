// A blob of a registry as a stream: as long as its descriptor says, continued where a connection broke.
#pragma once

#include <memory>
#include <string>

#include "layer/byte_source.hpp"
#include "oci/digest.hpp"
#include "registry/repository.hpp"

namespace coracle::registry {

class BlobSource final : public layer::ByteSource {
public:
    // `repository` must outlive it.
    BlobSource(const Repository& repository, oci::Digest digest, std::uint64_t size)
        : repository_(repository), digest_(std::move(digest)), size_(size) {}

    // Asks for the bytes from the current position on.
    Result<> open();
    Result<std::size_t> read(std::span<char> buffer) override;

private:
    Result<> check_whole() const;
    Result<> check_rest();
    Result<> recover(Error broken);
    Result<> skip_known();
    Result<std::size_t> read_end();

    const Repository& repository_;
    const oci::Digest digest_;
    const std::uint64_t size_;
    std::unique_ptr<Response> response_;
    std::string etag_;              // of the first answer
    std::uint64_t position_ = 0;    // bytes handed out
    std::uint64_t to_skip_ = 0;     // of an answer that begins at the beginning again
    std::uint64_t last_break_ = 0;  // position at the last break
    int breaks_ = 0;                // without much progress between them
    bool at_end_ = false;
};

// Whether a Content-Range header ("bytes 5-9/10") says that the bytes from `first` on of a whole of `size` follow.
bool is_rest_of(std::string_view content_range, std::uint64_t first, std::uint64_t size);

}  // namespace coracle::registry

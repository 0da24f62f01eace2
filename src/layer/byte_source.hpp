// A stream of bytes that is pulled: a blob's file, the digest taken of it, the decompressor over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "content/hasher.hpp"
#include "coracle/error.hpp"

namespace coracle::layer {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    // Up to buffer.size() bytes; 0 is the end, and stays the end.
    virtual Result<std::size_t> read(std::span<char> buffer) = 0;
    // Passes over up to `count` bytes where that is cheaper than reading them; 0: it is not.
    virtual Result<std::uint64_t> skip(std::uint64_t count) {
        (void)count;
        return std::uint64_t{0};
    }
};

// Reads a descriptor from its current position; does not own it.
class FileSource final : public ByteSource {
public:
    explicit FileSource(int fd) : fd_(fd) {}
    Result<std::size_t> read(std::span<char> buffer) override;

private:
    int fd_;
};

// Passes bytes on and takes their digest and number.
class HashingSource final : public ByteSource {
public:
    HashingSource(ByteSource& inner, content::Hasher hasher) : inner_(inner), hasher_(std::move(hasher)) {}
    Result<std::size_t> read(std::span<char> buffer) override;
    std::uint64_t count() const { return count_; }
    Result<oci::Digest> finish() && { return std::move(hasher_).finish(); }

private:
    ByteSource& inner_;
    content::Hasher hasher_;
    std::uint64_t count_ = 0;
};

// Passes on the bytes of a blob and compares them with what its descriptor promises; never more than it promises.
class VerifyingSource final : public ByteSource {
public:
    static Result<VerifyingSource> create(ByteSource& inner, const oci::Digest& digest, std::uint64_t size);
    Result<std::size_t> read(std::span<char> buffer) override;
    // When all was read. Error: corrupt, naming both.
    Result<> finish() &&;

private:
    VerifyingSource(HashingSource hashing, const oci::Digest& digest, std::uint64_t size)
        : hashing_(std::move(hashing)), digest_(digest), size_(size) {}

    HashingSource hashing_;
    oci::Digest digest_;
    std::uint64_t size_;
};
// Error: `found` bytes are not the `promised` ones of a descriptor.
Error wrong_size(std::uint64_t found, std::uint64_t promised);

// Reads to the end, so that digests cover what a reader left alone. More than `bound` bytes is an Error.
Result<> drain(ByteSource& source, std::uint64_t bound, std::string_view what);

}  // namespace coracle::layer

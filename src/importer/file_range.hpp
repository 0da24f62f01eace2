// A stretch of a regular file as a source of bytes; many of one file can be read at once.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/unique_fd.hpp"
#include "layer/byte_source.hpp"

namespace coracle::importer {

class FileRange final : public layer::ByteSource {
public:
    // The first `size` bytes of a file of its own.
    FileRange(base::UniqueFd file, std::uint64_t size) : owned_(std::move(file)), fd_(owned_.get()), end_(size) {}
    // `size` bytes from `offset` on of a file that stays open.
    FileRange(int fd, std::uint64_t offset, std::uint64_t size) : fd_(fd), at_(offset), end_(offset + size) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end_ - at_));
        for (;;) {
            const ssize_t got = ::pread(fd_, buffer.data(), wanted, static_cast<off_t>(at_));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return os_error("read", errno);
            at_ += static_cast<std::uint64_t>(got);
            return static_cast<std::size_t>(got);
        }
    }

    Result<std::uint64_t> skip(std::uint64_t count) override {
        const std::uint64_t skipped = std::min(count, end_ - at_);
        at_ += skipped;
        return skipped;
    }

private:
    base::UniqueFd owned_;
    int fd_;
    std::uint64_t at_ = 0;
    std::uint64_t end_;
};

}  // namespace coracle::importer

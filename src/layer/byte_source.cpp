// Implements the plain and the hashing source.
#include "layer/byte_source.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/try.hpp"

namespace coracle::layer {

Result<std::size_t> FileSource::read(std::span<char> buffer) {
    for (;;) {
        const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) return os_error("read", errno);
    }
}

Result<std::size_t> HashingSource::read(std::span<char> buffer) {
    TRY(const std::size_t got, inner_.read(buffer));
    TRY_OK(hasher_.add(std::string_view(buffer.data(), got)));
    count_ += got;
    return got;
}

Error wrong_size(std::uint64_t found, std::uint64_t promised) {
    const std::string more = found > promised ? "more than " : std::to_string(found) + " of ";
    return make_error(ErrorCode::corrupt,
                      "it has " + more + "the " + std::to_string(promised) + " bytes that its descriptor promises");
}

Result<VerifyingSource> VerifyingSource::create(ByteSource& inner, const oci::Digest& digest, std::uint64_t size) {
    TRY(content::Hasher hasher, content::Hasher::create(digest.algorithm()));
    return VerifyingSource(HashingSource(inner, std::move(hasher)), digest, size);
}

Result<std::size_t> VerifyingSource::read(std::span<char> buffer) {
    TRY(const std::size_t got, hashing_.read(buffer));
    if (hashing_.count() > size_) return wrong_size(hashing_.count(), size_);
    return got;
}

Result<> VerifyingSource::finish() && {
    if (hashing_.count() != size_) return wrong_size(hashing_.count(), size_);
    TRY(const oci::Digest found, std::move(hashing_).finish());
    if (found == digest_) return {};
    return make_error(ErrorCode::corrupt, "its digest is " + found.str() + ", not " + digest_.str());
}

Result<> drain(ByteSource& source, std::uint64_t bound, std::string_view what) {
    std::vector<char> buffer(std::size_t{1} << 17U);
    for (std::uint64_t total = 0;;) {
        TRY(const std::size_t got, source.read(buffer));
        if (got == 0) return {};
        total += got;
        if (total > bound) {
            return make_error(ErrorCode::corrupt,
                              std::string(what) + ": more than " + std::to_string(bound) + " bytes follow the end");
        }
    }
}

}  // namespace coracle::layer

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

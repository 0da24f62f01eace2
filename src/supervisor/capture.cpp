// Implements the capture of one stream.
#include "supervisor/capture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace coracle::supervisor {

void Capture::read_some() {
    std::array<char, 65536> buffer;
    for (int turns = 0; turns < 8 && pipe_; ++turns) {
        const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) {
            pipe_.reset();
            return;
        }
        const auto size = static_cast<std::size_t>(got);
        total_ += size;
        const std::size_t room = cap_.count > kept_.size() ? cap_.count - kept_.size() : 0;
        kept_.append(buffer.data(), std::min(size, room));
    }
}

Result<OutputPipe> make_output_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("pipe", errno);
    OutputPipe pipe{.read = base::UniqueFd(ends[0]), .write = base::UniqueFd(ends[1])};
    if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return os_error("fcntl", errno);
    return pipe;
}

}  // namespace coracle::supervisor

// Implements the capture of one stream.
#include "supervisor/capture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace coracle::supervisor {

namespace {

std::size_t size_of(Bytes size) { return static_cast<std::size_t>(size.count); }

}  // namespace

Capture::Capture(base::UniqueFd pipe, Bytes cap, OutputExcess excess)
    : pipe_(std::move(pipe)),
      cap_(cap),
      excess_(excess),
      head_cap_(excess == OutputExcess::truncate ? size_of(cap) - size_of(cap) / 2
                : excess == OutputExcess::kill   ? size_of(cap)
                                                 : 0),
      tail_cap_(excess == OutputExcess::truncate ? size_of(cap) / 2 : 0) {}

void Capture::keep(std::string_view bytes) {
    const std::size_t to_head = std::min(bytes.size(), head_cap_ - head_.size());
    head_.append(bytes.substr(0, to_head));
    bytes.remove_prefix(to_head);
    if (bytes.size() > tail_cap_) bytes.remove_prefix(bytes.size() - tail_cap_);
    tail_.append(bytes);
    if (tail_.size() > 2 * tail_cap_) tail_.erase(0, tail_.size() - tail_cap_);
}

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
        total_ += static_cast<std::uint64_t>(got);
        keep({buffer.data(), static_cast<std::size_t>(got)});
    }
}

Capture::Kept Capture::take() && {
    if (tail_.size() > tail_cap_) tail_.erase(0, tail_.size() - tail_cap_);
    Kept kept{.data = std::move(head_), .omitted_at = {}};
    if (kept.data.size() + tail_.size() < total_) kept.omitted_at = kept.data.size();
    kept.data += tail_;
    return kept;
}

Result<OutputPipe> make_output_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("pipe", errno);
    OutputPipe pipe{.read = base::UniqueFd(ends[0]), .write = base::UniqueFd(ends[1])};
    if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return os_error("fcntl", errno);
    return pipe;
}

}  // namespace coracle::supervisor

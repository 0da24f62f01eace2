// A two-way connection between processes that carries whole messages and descriptors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::base {

struct Message {
    std::string bytes;
    std::vector<UniqueFd> fds;  // close-on-exec
};

// A unix stream socket with a length before each message; a stream, because one message may be larger than a datagram
// socket takes (argv and env up to 2 MiB).
class Channel {
public:
    explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}
    static Result<std::pair<Channel, Channel>> make_pair();

    int fd() const { return socket_.get(); }
    UniqueFd release() && { return std::move(socket_); }
    void close() { socket_.reset(); }

    // Waits until all is handed to the kernel. EPIPE is an Error, never a signal.
    Result<> send(std::string_view bytes, const std::vector<int>& fds = {}) const;
    // Waits for one whole message. No value: the other end is gone. More than `bound` bytes is an Error.
    Result<std::optional<Message>> receive(Bytes bound) const;

private:
    UniqueFd socket_;
};

}  // namespace coracle::base

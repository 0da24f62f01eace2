// Implements messages over a stream socket: four bytes of length, the payload, descriptors with the first byte.
#include "base/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/try.hpp"

namespace coracle::base {

namespace {

constexpr std::size_t most_fds = 8;

using ControlBuffer = std::array<char, CMSG_SPACE(sizeof(int) * most_fds)>;

// Descriptors that came with a received part, owned from here on.
void adopt_fds(const msghdr& header, std::vector<UniqueFd>& fds) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(const_cast<msghdr*>(&header), part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            fds.emplace_back(fd);
        }
    }
}

// Fills `size` bytes. False: the other end closed before all came; errno is 0 at a clean end between messages.
bool receive_exactly(int socket, char* data, std::size_t size, std::vector<UniqueFd>& fds) {
    std::size_t done = 0;
    while (done < size) {
        alignas(cmsghdr) ControlBuffer control{};
        iovec part{data + done, size - done};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            if (got == 0) errno = done == 0 ? 0 : ECONNRESET;
            return false;
        }
        adopt_fds(header, fds);
        done += static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::make_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return os_error("socketpair", errno);
    return std::pair(Channel(UniqueFd(ends[0])), Channel(UniqueFd(ends[1])));
}

Result<> Channel::send(std::string_view bytes, const std::vector<int>& fds) const {
    if (fds.size() > most_fds) return make_error(ErrorCode::internal, "too many descriptors in one message");
    auto length = static_cast<std::uint32_t>(bytes.size());
    alignas(cmsghdr) ControlBuffer control{};
    std::array<iovec, 2> parts{{{&length, sizeof length}, {const_cast<char*>(bytes.data()), bytes.size()}}};
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = parts.size();
    if (!fds.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
        std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
    }
    for (std::size_t left = sizeof length + bytes.size(); left > 0;) {
        const ssize_t put = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return os_error("send a message", errno);
        left -= static_cast<std::size_t>(put);
        header.msg_control = nullptr;
        header.msg_controllen = 0;
        for (std::size_t skip = static_cast<std::size_t>(put); skip > 0 && header.msg_iovlen > 0;) {
            iovec& part = *header.msg_iov;
            const std::size_t step = std::min(skip, part.iov_len);
            part.iov_base = static_cast<char*>(part.iov_base) + step;
            part.iov_len -= step;
            skip -= step;
            if (part.iov_len == 0) {
                ++header.msg_iov;
                --header.msg_iovlen;
            }
        }
    }
    return {};
}

Result<std::optional<Message>> Channel::receive(Bytes bound) const {
    Message message;
    std::uint32_t length = 0;
    if (!receive_exactly(socket_.get(), reinterpret_cast<char*>(&length), sizeof length, message.fds)) {
        // A peer that died with unread data in its buffer resets the connection: an end like any other.
        if (errno == 0 || errno == ECONNRESET) return std::optional<Message>();
        return os_error("receive a message", errno);
    }
    if (length > bound.count) return make_error(ErrorCode::corrupt, "received message is larger than its bound");
    message.bytes.resize(length);
    if (length > 0 && !receive_exactly(socket_.get(), message.bytes.data(), length, message.fds)) {
        return make_error(ErrorCode::unavailable, "the other end closed in the middle of a message");
    }
    return std::optional(std::move(message));
}

}  // namespace coracle::base

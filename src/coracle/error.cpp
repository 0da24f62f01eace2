// Implements the words and contexts of errors.
#include "coracle/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace coracle {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_request: return "invalid_request";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::corrupt: return "corrupt";
        case ErrorCode::unsupported: return "unsupported";
        case ErrorCode::denied: return "denied";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::internal: return "internal";
    }
    return "internal";
}

std::string_view to_string(Stage stage) {
    constexpr std::array<std::string_view, 13> names{"request", "resolve", "unpack", "plan",  "rootfs",
                                                     "config",  "cgroup",  "create", "start", "run",
                                                     "drain",   "collect", "delete"};
    return names[static_cast<std::size_t>(stage)];
}

Error Error::within(std::string_view context) && {
    message = std::string(context) + ": " + message;
    return std::move(*this);
}

Error Error::at(Stage where) && {
    if (!stage) stage = where;
    return std::move(*this);
}

Error Error::with_hint(std::string_view fix) && {
    if (hint.empty()) hint = fix;
    return std::move(*this);
}

namespace {

ErrorCode code_of(int os_errno) {
    switch (os_errno) {
        case ENOENT:
        case ENOTDIR: return ErrorCode::not_found;
        case EACCES:
        case EPERM:
        case EROFS: return ErrorCode::denied;
        case ENOSPC:
        case EDQUOT:
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case EAGAIN: return ErrorCode::unavailable;
        default: return ErrorCode::internal;
    }
}

}  // namespace

Error os_error(std::string_view act, int os_errno) {
    // The GNU strerror_r: no global state, may return a static text instead of the buffer.
    std::array<char, 128> buffer{};
    const char* cause = ::strerror_r(os_errno, buffer.data(), buffer.size());
    Error error = make_error(code_of(os_errno), std::string(act) + ": " + cause);
    error.os_errno = os_errno;
    if (os_errno == ENOSPC || os_errno == EDQUOT) error.hint = "free some disk space and try again";
    return error;
}

}  // namespace coracle

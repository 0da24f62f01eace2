// What went wrong, in terms of who can act on it; and Result, the value or the Error that took its place.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace coracle {

// Says who can act: the caller (invalid_request, not_found), whoever made the image (corrupt), the administrator of
// the host (unsupported, denied), time (unavailable), or us (internal).
enum class ErrorCode {
    invalid_request,  // the request contradicts itself or cannot be parsed
    not_found,        // an image, a file, a program on the host that was named is not there
    corrupt,          // bytes that do not match their digest, their size or their format
    unsupported,      // this host, this runtime or this version cannot do it
    denied,           // a permission or a policy forbids it
    unavailable,      // right now it cannot be had: disk full, busy, timed out
    internal,         // coracle itself is wrong
};

// The step of a run in which an error arose; the same words as in the record's `stage` and `timing_ms`.
enum class Stage { request, resolve, unpack, plan, rootfs, config, cgroup, create, start, run, drain, collect, remove };

std::string_view to_string(ErrorCode code);
std::string_view to_string(Stage stage);

struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;  // context, act, object, cause: "layer 3f2a90c1be77: create 'usr/bin/sh': No space left"
    std::string hint;     // the fix, as a sentence the reader can follow; empty where none is known
    std::optional<Stage> stage;  // set once, by the innermost code that knows it
    int os_errno = 0;            // the errno behind it, 0 where there was none

    // Puts `context` before the message: the outer act first, the cause last.
    [[nodiscard]] Error within(std::string_view context) &&;
    // Names the stage unless inner code already did.
    [[nodiscard]] Error at(Stage where) &&;
    [[nodiscard]] Error with_hint(std::string_view fix) &&;
};

// An Error from errno: "<act>: <strerror>", code chosen from errno (ENOENT -> not_found, EACCES/EPERM -> denied,
// ENOSPC/EDQUOT/EMFILE/EAGAIN -> unavailable, others internal).
Error os_error(std::string_view act, int os_errno);

inline Error make_error(ErrorCode code, std::string message, std::string hint = {}) {
    return Error{.code = code, .message = std::move(message), .hint = std::move(hint), .stage = {}, .os_errno = 0};
}

// A T or the Error that took its place. Result<> is an act without a value.
struct Unit {};

template <class T = Unit>
class [[nodiscard]] Result {
public:
    Result() requires std::same_as<T, Unit> : state_(Unit{}) {}
    // Implicit, so that `return value;` and `return error;` both read as what they are.
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    Error& error() & { return std::get<1>(state_); }
    const Error& error() const& { return std::get<1>(state_); }
    Error&& error() && { return std::get<1>(std::move(state_)); }

    [[nodiscard]] Result within(std::string_view context) && {
        if (!has_value()) error() = Error(std::move(error())).within(context);
        return std::move(*this);
    }
    [[nodiscard]] Result at(Stage where) && {
        if (!has_value()) error() = Error(std::move(error())).at(where);
        return std::move(*this);
    }

private:
    std::variant<T, Error> state_;
};

}  // namespace coracle

// Marshals D-Bus messages (D-Bus Specification 0.41, "Type System" and "Message Protocol"): as much of the protocol as
// one call with its answer and one signal take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coracle::cgroup::dbus {

// Values in this machine's byte order, each at a multiple of its size from the beginning of what is written.
class Writer {
public:
    Writer& align(std::size_t to);
    Writer& byte(std::uint8_t value);           // y
    Writer& number(std::uint32_t value);        // u, and b: 0 or 1
    Writer& number64(std::uint64_t value);      // t
    Writer& text(std::string_view value);       // s and o
    Writer& signature(std::string_view value);  // g, and what a variant begins with
    // a: the items that `fill(writer)` writes; `alignment` is that of an item's type, 8 for structs.
    template <class Fill>
    Writer& array(std::size_t alignment, Fill fill) {
        const std::size_t length_at = align(4).bytes_.size();
        const std::size_t begin = number(0).align(alignment).bytes_.size();
        fill(*this);
        patch(length_at, static_cast<std::uint32_t>(bytes_.size() - begin));
        return *this;
    }
    std::string take() && { return std::move(bytes_); }

private:
    void append(const void* value, std::size_t size);
    void patch(std::size_t at, std::uint32_t value);
    std::string bytes_;
};

// Reading past the end yields zeros and empty texts and makes good() false: check once, after the last value.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    void align(std::size_t to);
    std::uint8_t byte();
    std::uint32_t number();
    std::string text();
    std::string signature();
    void fail() { good_ = false; }
    bool good() const { return good_; }
    std::size_t at() const { return at_; }
    std::string rest() const { return std::string(bytes_.substr(at_)); }

private:
    std::string_view take(std::size_t size);
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

enum class Kind : std::uint8_t { call = 1, answer, error, signal };

struct Message {
    Kind kind = Kind::call;
    std::uint32_t answers = 0;  // the serial of the call, in answers and errors
    std::string destination, path, interface, member;
    std::string error_name;  // "org.freedesktop.DBus.Error.AccessDenied", in errors
    std::string signature;   // of the body
    std::string body;
};

std::string pack(const Message& message, std::uint32_t serial);  // `serial` is 1 or more

// A message begins with that many bytes, which tell its size.
inline constexpr std::size_t head_size = 16;
// No value: the bytes are no message in this machine's byte order, or one of more than 64 KiB.
std::optional<std::size_t> size_of(std::string_view head);
// No value: not one whole and well-formed message.
std::optional<Message> unpack(std::string_view bytes);

}  // namespace coracle::cgroup::dbus

// Packs values into bytes and reads them back: the language between coracle, its keeper and its init.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coracle::base {

// Both ends are this build on this machine: native byte order, lengths before texts.
class WireWriter {
public:
    WireWriter& number(std::uint64_t value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    // Any integer, bool or enumerator; signed values by their two's complement.
    template <class T>
    requires std::integral<T> || std::is_enum_v<T> WireWriter& value(T value) {
        return number(static_cast<std::uint64_t>(value));
    }
    WireWriter& text(std::string_view value) {
        number(value.size());
        bytes_.append(value);
        return *this;
    }
    WireWriter& texts(const std::vector<std::string>& values) {
        number(values.size());
        for (const std::string& value : values) text(value);
        return *this;
    }
    std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Reading past the end, or a value that its type cannot hold, yields zeros and empty texts and makes good() false:
// check once, after the last value.
class WireReader {
public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (rest_.size() < sizeof value) {
            fail();
            return 0;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    template <std::integral T>
    T value() {
        const std::uint64_t raw = number();
        const T narrowed = static_cast<T>(raw);
        if (static_cast<std::uint64_t>(narrowed) == raw) return narrowed;
        fail();
        return T{};
    }
    // An enumerator from the first, 0 unless told, to `last`.
    template <class T>
    requires std::is_enum_v<T> T choice(T last, T first = T{}) {
        const std::uint64_t raw = number();
        if (raw >= static_cast<std::uint64_t>(first) && raw <= static_cast<std::uint64_t>(last)) {
            return static_cast<T>(raw);
        }
        fail();
        return first;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (size > rest_.size()) {
            fail();
            return {};
        }
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return value;
    }
    std::vector<std::string> texts() {
        std::vector<std::string> values;
        for (std::uint64_t left = number(); left > 0 && good_; --left) values.push_back(text());
        return values;
    }
    bool good() const { return good_; }
    bool whole() const { return good_ && rest_.empty(); }

private:
    void fail() {
        good_ = false;
        rest_ = {};
    }
    std::string_view rest_;
    bool good_ = true;
};

// A message begins with its kind.
template <class Kind>
WireWriter begin_message(Kind kind) {
    WireWriter writer;
    writer.value(kind);
    return writer;
}

// Reads a message of one kind with `fill(reader, message)`; nothing where the kind is another, a value is out of its
// range, or the bytes are too few or too many.
template <class T, class Kind, class Fill>
std::optional<T> read_message(std::string_view bytes, Kind kind, Fill fill) {
    WireReader reader(bytes);
    if (reader.number() != static_cast<std::uint64_t>(kind)) return std::nullopt;
    T message;
    fill(reader, message);
    if (!reader.whole()) return std::nullopt;
    return message;
}

}  // namespace coracle::base

// Implements the marshalling: a head of 16 bytes, an array of header fields, padding to 8, the body.
#include "cgroup/dbus.hpp"

#include <bit>
#include <cstring>

namespace coracle::cgroup::dbus {

namespace {

constexpr char byte_order = std::endian::native == std::endian::little ? 'l' : 'B';
constexpr std::uint8_t protocol_version = 1;
constexpr std::size_t most_bytes = 65536;

enum Field : std::uint8_t { path = 1, interface, member, error_name, reply_serial, destination, sender, signature };

constexpr std::size_t rounded_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

void write_field(Writer& writer, Field field, const char* type, const std::string& value) {
    if (value.empty()) return;
    writer.align(8).byte(field).signature(type);
    if (field == Field::signature) {
        writer.signature(value);
    } else {
        writer.text(value);
    }
}

// A field that this side does not know is to be ignored; where its type is simple, its end is known.
void skip_field(Reader& reader, const std::string& type) {
    if (type == "s" || type == "o") {
        (void)reader.text();
    } else if (type == "g") {
        (void)reader.signature();
    } else if (type == "u") {
        (void)reader.number();
    } else {
        reader.fail();
    }
}

// One header field; a known one has the type that the specification gives it.
void read_field(Reader& reader, Message& message) {
    reader.align(8);
    const std::uint8_t field = reader.byte();
    const std::string type = reader.signature();
    const auto read = [&](const char* expected, std::string& into) {
        if (type != expected) return reader.fail();
        into = type == "g" ? reader.signature() : reader.text();
    };
    switch (field) {
        case Field::path: return read("o", message.path);
        case Field::interface: return read("s", message.interface);
        case Field::member: return read("s", message.member);
        case Field::error_name: return read("s", message.error_name);
        case Field::destination: return read("s", message.destination);
        case Field::signature: return read("g", message.signature);
        case Field::reply_serial:
            if (type != "u") return reader.fail();
            message.answers = reader.number();
            return;
        default: return skip_field(reader, type);
    }
}

}  // namespace

void Writer::append(const void* value, std::size_t size) { bytes_.append(static_cast<const char*>(value), size); }

void Writer::patch(std::size_t at, std::uint32_t value) { std::memcpy(bytes_.data() + at, &value, sizeof value); }

Writer& Writer::align(std::size_t to) {
    bytes_.resize(rounded_up(bytes_.size(), to), '\0');
    return *this;
}

Writer& Writer::byte(std::uint8_t value) {
    append(&value, 1);
    return *this;
}

Writer& Writer::number(std::uint32_t value) {
    align(4).append(&value, sizeof value);
    return *this;
}

Writer& Writer::number64(std::uint64_t value) {
    align(8).append(&value, sizeof value);
    return *this;
}

Writer& Writer::text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size())).append(value.data(), value.size());
    return byte(0);
}

Writer& Writer::signature(std::string_view value) {
    byte(static_cast<std::uint8_t>(value.size())).append(value.data(), value.size());
    return byte(0);
}

std::string_view Reader::take(std::size_t size) {
    if (!good_ || size > bytes_.size() - at_) {
        good_ = false;
        return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
}

void Reader::align(std::size_t to) { (void)take(rounded_up(at_, to) - at_); }

std::uint8_t Reader::byte() {
    const std::string_view bytes = take(1);
    return bytes.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(bytes.front());
}

std::uint32_t Reader::number() {
    align(4);
    std::uint32_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::string Reader::text() {
    std::string value(take(number()));
    if (byte() != 0) good_ = false;
    return value;
}

std::string Reader::signature() {
    std::string value(take(byte()));
    if (byte() != 0) good_ = false;
    return value;
}

std::string pack(const Message& message, std::uint32_t serial) {
    Writer writer;
    writer.byte(static_cast<std::uint8_t>(byte_order)).byte(static_cast<std::uint8_t>(message.kind)).byte(0);
    writer.byte(protocol_version).number(static_cast<std::uint32_t>(message.body.size())).number(serial);
    writer.array(8, [&message](Writer& fields) {
        write_field(fields, Field::path, "o", message.path);
        write_field(fields, Field::interface, "s", message.interface);
        write_field(fields, Field::member, "s", message.member);
        write_field(fields, Field::error_name, "s", message.error_name);
        if (message.answers != 0) fields.align(8).byte(Field::reply_serial).signature("u").number(message.answers);
        write_field(fields, Field::destination, "s", message.destination);
        write_field(fields, Field::signature, "g", message.signature);
    });
    writer.align(8);
    return std::move(writer).take() + message.body;
}

std::optional<std::size_t> size_of(std::string_view head) {
    if (head.size() < head_size || head.front() != byte_order) return std::nullopt;
    Reader reader(head.substr(4, 12));
    const std::size_t body = reader.number();
    (void)reader.number();  // the serial
    const std::size_t fields = reader.number();
    const std::size_t size = head_size + rounded_up(fields, 8) + body;
    return size <= most_bytes ? std::optional(size) : std::nullopt;
}

std::optional<Message> unpack(std::string_view bytes) {
    if (size_of(bytes.substr(0, head_size)) != bytes.size()) return std::nullopt;
    Reader reader(bytes);
    (void)reader.byte();
    Message message;
    const std::uint8_t kind = reader.byte();
    if (kind < static_cast<std::uint8_t>(Kind::call) || kind > static_cast<std::uint8_t>(Kind::signal)) {
        return std::nullopt;
    }
    message.kind = static_cast<Kind>(kind);
    for (int i = 0; i < 2; ++i) (void)reader.number();  // the size of the body, the serial
    const std::size_t end = head_size + reader.number();
    while (reader.good() && reader.at() < end) read_field(reader, message);
    reader.align(8);
    if (!reader.good() || reader.at() != rounded_up(end, 8)) return std::nullopt;
    message.body = reader.rest();
    return message;
}

}  // namespace coracle::cgroup::dbus

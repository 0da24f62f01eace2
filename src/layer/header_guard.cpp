// Implements the look at extended headers (POSIX.1-2017, pax, and the GNU extensions as tar.h of GNU tar has them).
#include "layer/header_guard.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/try.hpp"

namespace coracle::layer {

namespace {

constexpr std::size_t block = 512;

std::uint64_t padded(std::uint64_t size) { return (size + block - 1) / block * block; }

// Octal digits between spaces and NULs, or base 256 where the first bit is set.
std::optional<std::uint64_t> number_in(std::string_view field) {
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
        for (const char c : field.substr(1)) {
            if (value >> 55U != 0) return std::nullopt;
            value = value << 8U | static_cast<unsigned char>(c);
        }
        return static_cast<unsigned char>(field[0]) == 0x80U ? std::optional(value) : std::nullopt;
    }
    const std::size_t begin = std::min(field.find_first_not_of(' '), field.size());
    const std::size_t end = std::min(field.find_first_of(std::string_view(" \0", 2), begin), field.size());
    const auto [last, problem] = std::from_chars(field.data() + begin, field.data() + end, value, 8);
    if (begin != end && (problem != std::errc() || last != field.data() + end)) return std::nullopt;
    return value;
}

struct Record {
    std::string_view key;
    std::string_view value;
};

// Takes "27 path=usr/share/doc/thing\n" off the front. What is malformed is left to libarchive, which refuses it.
std::optional<Record> next_record(std::string_view& text) {
    std::size_t length = 0;
    const auto [after, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(after - text.data());
    if (problem != std::errc() || length <= digits + 1 || length > text.size()) return std::nullopt;
    const std::string_view body = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = body.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    text.remove_prefix(length);
    return Record{body.substr(0, equals), body.substr(equals + 1)};
}

bool is_name(std::string_view key) { return key == "path" || key == "linkpath" || key == "GNU.sparse.name"; }

}  // namespace

Result<std::size_t> HeaderGuard::read(std::span<char> buffer) {
    TRY(const std::size_t got, inner_.read(buffer));
    TRY_OK(look_at(buffer.first(got)));
    return got;
}

Result<std::uint64_t> HeaderGuard::skip(std::uint64_t count) {
    if (expect_ == Expect::nothing) return inner_.skip(count);
    if (!collected_.empty()) return std::uint64_t{0};
    TRY(const std::uint64_t skipped, inner_.skip(std::min(count, passed_over_)));
    passed_over_ -= skipped;
    return skipped;
}

Result<> HeaderGuard::look_at(std::span<const char> bytes) {
    while (!bytes.empty() && expect_ != Expect::nothing) {
        const auto over = static_cast<std::size_t>(std::min<std::uint64_t>(passed_over_, bytes.size()));
        passed_over_ -= over;
        bytes = bytes.subspan(over);
        const std::size_t count = std::min(wanted_ - collected_.size(), bytes.size());
        collected_.append(bytes.data(), count);
        bytes = bytes.subspan(count);
        if (passed_over_ == 0 && collected_.size() == wanted_) TRY_OK(take_block());
    }
    return {};
}

Result<> HeaderGuard::take_block() {
    if (expect_ == Expect::records) return take_records();
    if (expect_ == Expect::header) return take_header();
    const bool extended = collected_[504] != 0;
    collected_.clear();
    if (!extended) expect_content(sparse_size_);
    return {};
}

void HeaderGuard::expect_content(std::uint64_t size) {
    collected_.clear();
    wanted_ = block;
    expect_ = Expect::header;
    passed_over_ = padded(size);
    next_size_known_ = false;
}

Result<> HeaderGuard::take_header() {
    type_ = collected_[156];
    const auto size_field = number_in(std::string_view(collected_).substr(124, 12));
    const bool at_end = collected_.find_first_not_of('\0') == std::string::npos;
    const std::uint64_t size = next_size_known_ ? next_size_ : size_field.value_or(0);
    if (at_end || !size_field || size > UINT64_MAX / 2 || (type_ == '1' && size > 0)) {
        expect_ = Expect::nothing;
    } else if (type_ == 'x' || type_ == 'g' || type_ == 'L' || type_ == 'K') {
        if (*size_field > limit_.count) {
            return limit_exceeded("an extended header", limit_, "max_pax");
        }
        collected_.clear();
        expect_ = Expect::records;
        wanted_ = static_cast<std::size_t>(*size_field);
        if (wanted_ == 0) return take_records();
    } else if (type_ == 'S' && collected_[482] != 0) {
        sparse_size_ = size;
        collected_.clear();
        expect_ = Expect::sparse_extension;
    } else {
        const bool has_content = type_ < '1' || type_ > '6';
        expect_content(has_content ? size : 0);
    }
    return {};
}

Result<> HeaderGuard::take_records() {
    const std::string records = std::move(collected_);
    const bool known = next_size_known_;
    expect_content(0);
    passed_over_ = padded(records.size()) - records.size();
    next_size_known_ = known;
    if (type_ != 'x') return {};
    std::string_view rest = records;
    while (const auto record = next_record(rest)) {
        if (is_name(record->key) && record->value.find('\0') != std::string_view::npos) {
            return make_error(ErrorCode::corrupt, "the name of an entry holds a NUL byte");
        }
        if (record->key != "size") continue;
        const char* end = record->value.data() + record->value.size();
        next_size_known_ = std::from_chars(record->value.data(), end, next_size_).ec == std::errc();
    }
    return {};
}

}  // namespace coracle::layer

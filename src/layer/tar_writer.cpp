// Implements the PAX writer (POSIX.1-2017, pax: ustar header and extended header).
#include "layer/tar_writer.hpp"

#include <array>
#include <cstring>

#include "base/try.hpp"

namespace coracle::layer {

namespace {

constexpr std::size_t block = 512;

struct Header {
    std::array<char, block> bytes{};

    void text(std::size_t at, std::size_t width, std::string_view value) {
        std::memcpy(bytes.data() + at, value.data(), std::min(width, value.size()));
    }
    // Octal, NUL-terminated; false where the value does not fit.
    bool number(std::size_t at, std::size_t width, std::int64_t value) {
        if (value < 0) return false;
        for (std::size_t place = at + width - 1; place-- > at; value >>= 3) {
            bytes[place] = static_cast<char>('0' + (value & 7));
        }
        return value == 0;
    }
    std::string_view sealed() {
        std::memset(bytes.data() + 148, ' ', 8);
        std::int64_t sum = 0;
        for (const char byte : bytes) sum += static_cast<unsigned char>(byte);
        number(148, 7, sum);
        return {bytes.data(), bytes.size()};
    }
};

char type_of(EntryKind kind) {
    switch (kind) {
        case EntryKind::directory: return '5';
        case EntryKind::symlink: return '2';
        case EntryKind::hardlink: return '1';
        case EntryKind::fifo: return '6';
        default: return '0';
    }
}

// "27 path=usr/share/doc/thing\n": the length counts its own digits.
std::string record(const std::string& key, std::string_view value) {
    const std::string body = " " + key + "=" + std::string(value) + "\n";
    std::size_t length = body.size() + 1;
    while (std::to_string(length).size() + body.size() != length) ++length;
    return std::to_string(length) + body;
}

// Fills the header; what does not fit goes into the records.
std::string fill(Header& header, const Entry& entry) {
    std::string records;
    const std::string path = entry.kind == EntryKind::directory ? entry.path + "/" : entry.path;
    header.text(0, 100, path);
    if (path.size() > 100) records += record("path", path);
    header.number(100, 8, entry.mode);
    if (!header.number(108, 8, entry.uid)) records += record("uid", std::to_string(entry.uid));
    if (!header.number(116, 8, entry.gid)) records += record("gid", std::to_string(entry.gid));
    const bool has_content = entry.kind == EntryKind::file;
    const auto size = static_cast<std::int64_t>(has_content ? entry.size : 0);
    if (!header.number(124, 12, size)) records += record("size", std::to_string(size));
    if (!header.number(136, 12, entry.mtime.tv_sec)) records += record("mtime", std::to_string(entry.mtime.tv_sec));
    header.bytes[156] = type_of(entry.kind);
    header.text(157, 100, entry.link);
    if (entry.link.size() > 100) records += record("linkpath", entry.link);
    header.text(257, 8,
                std::string_view("ustar\0"
                                 "00",
                                 8));
    for (const Xattr& xattr : entry.xattrs) records += record("SCHILY.xattr." + xattr.name, xattr.value);
    return records;
}

Header records_header(std::size_t size) {
    Header header;
    header.text(0, 100, "PaxHeaders/entry");
    header.number(100, 8, 0644);
    header.number(108, 8, 0);
    header.number(116, 8, 0);
    header.number(124, 12, static_cast<std::int64_t>(size));
    header.number(136, 12, 0);
    header.bytes[156] = 'x';
    header.text(257, 8,
                std::string_view("ustar\0"
                                 "00",
                                 8));
    return header;
}

std::string padding_for(std::uint64_t size) { return std::string((block - size % block) % block, '\0'); }

}  // namespace

Result<> TarWriter::write_header(const Entry& entry) {
    Header header;
    const std::string records = fill(header, entry);
    if (!records.empty()) {
        TRY_OK(sink_(records_header(records.size()).sealed()));
        TRY_OK(sink_(records + padding_for(records.size())));
    }
    return sink_(header.sealed());
}

Result<> TarWriter::begin(const Entry& entry) {
    TRY_OK(write_header(entry));
    missing_ = entry.kind == EntryKind::file ? entry.size : 0;
    written_ = 0;
    return {};
}

Result<> TarWriter::write(std::string_view bytes) {
    if (bytes.size() > missing_)
        return make_error(ErrorCode::internal, "tar: an entry got more content than announced");
    missing_ -= bytes.size();
    written_ += bytes.size();
    return sink_(bytes);
}

Result<> TarWriter::end_entry() {
    if (missing_ != 0) return make_error(ErrorCode::internal, "tar: an entry got less content than announced");
    return sink_(padding_for(written_));
}

Result<> TarWriter::finish() { return sink_(std::string(2 * block, '\0')); }

}  // namespace coracle::layer

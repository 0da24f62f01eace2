// Implements the building of tar archives.
#include "support/tar_builder.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace coracle::test {

namespace {

std::string octal(std::uint64_t value, int width) {
    std::string text(static_cast<std::size_t>(width) + 1, '\0');
    std::snprintf(text.data(), text.size(), "%0*llo", width - 1, static_cast<unsigned long long>(value));
    text.resize(static_cast<std::size_t>(width));
    return text;
}

void put(std::string& block, std::size_t at, std::size_t width, const std::string& value) {
    block.replace(at, std::min(width, value.size()), value, 0, std::min(width, value.size()));
}

std::string record(const std::string& key, const std::string& value) {
    const std::string body = " " + key + "=" + value + "\n";
    std::size_t length = body.size() + 1;
    while (std::to_string(length).size() + body.size() != length) ++length;
    return std::to_string(length) + body;
}

}  // namespace

TarBuilder& TarBuilder::header(const std::string& name, char type, std::uint64_t size, const TarFields& fields) {
    std::string block(512, '\0');
    put(block, 0, 100, name);
    put(block, 100, 8, octal(fields.mode, 8));
    put(block, 108, 8, octal(fields.uid, 8));
    put(block, 116, 8, octal(fields.gid, 8));
    put(block, 124, 12, octal(size, 12));
    put(block, 136, 12, octal(static_cast<std::uint64_t>(fields.mtime), 12));
    block[156] = type;
    put(block, 157, 100, fields.link);
    put(block, 257, 8,
        std::string("ustar\0"
                    "00",
                    8));
    put(block, 329, 8, octal(fields.device_major, 8));
    put(block, 337, 8, octal(fields.device_minor, 8));
    put(block, 345, 155, fields.prefix);
    put(block, 148, 8, "        ");
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    put(block, 148, 8, octal(sum, 7) + " ");
    return raw(block);
}

TarBuilder& TarBuilder::content(const std::string& data) {
    return raw(data + std::string((512 - data.size() % 512) % 512, '\0'));
}

TarBuilder& TarBuilder::raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
}

TarBuilder& TarBuilder::file(const std::string& name, const std::string& data, TarFields fields) {
    return header(name, '0', data.size(), fields).content(data);
}

TarBuilder& TarBuilder::dir(const std::string& name, unsigned mode) {
    return header(name, '5', 0, TarFields{.mode = mode});
}

TarBuilder& TarBuilder::symlink(const std::string& name, const std::string& target) {
    return header(name, '2', 0, TarFields{.mode = 0777, .link = target});
}

TarBuilder& TarBuilder::hardlink(const std::string& name, const std::string& target) {
    return header(name, '1', 0, TarFields{.link = target});
}

TarBuilder& TarBuilder::fifo(const std::string& name) { return header(name, '6', 0); }

TarBuilder& TarBuilder::device(const std::string& name, char type, unsigned major, unsigned minor) {
    return header(name, type, 0, TarFields{.device_major = major, .device_minor = minor});
}

TarBuilder& TarBuilder::pax(const PaxRecords& records) {
    std::string text;
    for (const auto& [key, value] : records) text += record(key, value);
    return header("PaxHeaders/x", 'x', text.size()).content(text);
}

TarBuilder& TarBuilder::gnu_long_name(const std::string& name) {
    const std::string text = name + '\0';
    return header("././@LongLink", 'L', text.size()).content(text);
}

std::string gzip(const std::string& data) {
    z_stream state{};
    ::deflateInit2(&state, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(::deflateBound(&state, data.size()) + 32, '\0');
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    state.avail_in = static_cast<uInt>(data.size());
    state.next_out = reinterpret_cast<Bytef*>(out.data());
    state.avail_out = static_cast<uInt>(out.size());
    ::deflate(&state, Z_FINISH);
    out.resize(state.total_out);
    ::deflateEnd(&state);
    return out;
}

std::string zstd(const std::string& data) {
    std::string out(::ZSTD_compressBound(data.size()), '\0');
    out.resize(::ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 3));
    return out;
}

std::string xz(const std::string& data) {
    std::string out(::lzma_stream_buffer_bound(data.size()), '\0');
    std::size_t length = 0;
    ::lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()),
                              data.size(), reinterpret_cast<std::uint8_t*>(out.data()), &length, out.size());
    out.resize(length);
    return out;
}

}  // namespace coracle::test

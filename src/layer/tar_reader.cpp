// Implements the tar reader over libarchive.
#include "layer/tar_reader.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>

#include "base/try.hpp"
#include "layer/header_guard.hpp"
#include "layer/thread_locale.hpp"

namespace coracle::layer {

namespace {

struct FreeArchive {
    void operator()(archive* handle) const { ::archive_read_free(handle); }
};

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

// libarchive warns when a name is no UTF-8 and then hands out the bytes: just what is wanted. Any other warning means
// that it guessed at a damaged header.
bool is_harmless(archive* handle) {
    const char* words = ::archive_error_string(handle);
    return words != nullptr && std::strstr(words, "can't be converted from") != nullptr;
}

EntryKind kind_of(archive_entry* entry) {
    if (::archive_entry_hardlink(entry) != nullptr) return EntryKind::hardlink;
    switch (::archive_entry_filetype(entry)) {
        case AE_IFDIR: return EntryKind::directory;
        case AE_IFLNK: return EntryKind::symlink;
        case AE_IFIFO: return EntryKind::fifo;
        case AE_IFCHR:
        case AE_IFBLK:
        case AE_IFSOCK: return EntryKind::device;
        default: return EntryKind::file;
    }
}

Result<std::vector<Xattr>> xattrs_of(archive_entry* entry, const Limits& limits) {
    std::vector<Xattr> xattrs;
    ::archive_entry_xattr_reset(entry);
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (::archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
        if (name == nullptr) continue;
        if (size > limits.xattr.count) {
            return limit_exceeded("an extended attribute", limits.xattr, "max_xattr");
        }
        xattrs.push_back(Xattr{name, std::string(static_cast<const char*>(value), size)});
    }
    return xattrs;
}

Result<Entry> convert(archive_entry* raw, const Limits& limits) {
    Entry entry;
    entry.path = text_or_empty(::archive_entry_pathname(raw));
    entry.kind = kind_of(raw);
    if (entry.kind == EntryKind::hardlink) entry.link = text_or_empty(::archive_entry_hardlink(raw));
    if (entry.kind == EntryKind::symlink) entry.link = text_or_empty(::archive_entry_symlink(raw));
    entry.mode = ::archive_entry_perm(raw) & 07777U;
    entry.uid = ::archive_entry_uid(raw);
    entry.gid = ::archive_entry_gid(raw);
    entry.mtime = timespec{.tv_sec = ::archive_entry_mtime(raw), .tv_nsec = ::archive_entry_mtime_nsec(raw)};
    const std::int64_t size = ::archive_entry_size(raw);
    if (size < 0) return make_error(ErrorCode::corrupt, "tar: an entry has a negative size");
    entry.size = static_cast<std::uint64_t>(size);
    TRY(entry.xattrs, xattrs_of(raw, limits));
    return entry;
}

}  // namespace

struct TarReader::State {
    State(ByteSource& bytes, const Limits& bounds, ThreadLocale utf8)
        : source(bytes, bounds), limits(bounds), locale(std::move(utf8)), buffer(std::size_t{1} << 17U) {}

    HeaderGuard source;
    const Limits limits;
    ThreadLocale locale;
    std::vector<char> buffer;
    std::uint64_t position = 0;         // of what follows the buffer in the stream
    std::size_t filled = 0;             // bytes of the buffer
    std::optional<Error> source_error;  // what libarchive's own message would hide
    std::unique_ptr<archive, FreeArchive> handle;

    static la_ssize_t on_read(archive* handle, void* context, const void** bytes) {
        auto& state = *static_cast<State*>(context);
        auto got = state.source.read(state.buffer);
        if (!got) return state.failed(handle, std::move(got).error());
        *bytes = state.buffer.data();
        state.filled = got.value();
        state.position += state.filled;
        return static_cast<la_ssize_t>(state.filled);
    }

    static la_int64_t on_skip(archive* handle, void* context, la_int64_t count) {
        auto& state = *static_cast<State*>(context);
        auto skipped = state.source.skip(static_cast<std::uint64_t>(count));
        if (!skipped) return state.failed(handle, std::move(skipped).error());
        state.position += skipped.value();
        if (skipped.value() > 0) state.filled = 0;
        return static_cast<la_int64_t>(skipped.value());
    }

    int failed(archive* reader, Error error) {
        source_error = std::move(error);
        ::archive_set_error(reader, EIO, "the source failed");
        return ARCHIVE_FATAL;
    }
};

TarReader::TarReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TarReader::TarReader(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

Error TarReader::failure() const {
    if (state_->source_error) return *state_->source_error;
    return make_error(ErrorCode::corrupt, "tar: " + text_or_empty(::archive_error_string(state_->handle.get())));
}

Result<TarReader> TarReader::open(ByteSource& source, const Limits& limits) {
    TRY(ThreadLocale locale, ThreadLocale::utf8());
    auto state = std::make_unique<State>(source, limits, std::move(locale));
    state->handle.reset(::archive_read_new());
    TarReader reader(std::move(state));
    archive* handle = reader.state_->handle.get();
    const auto scope = reader.state_->locale.enter();
    if (handle == nullptr) return make_error(ErrorCode::unavailable, "tar: no memory for the reader");
    if (::archive_read_support_format_tar(handle) != ARCHIVE_OK ||
        ::archive_read_open2(handle, reader.state_.get(), nullptr, &State::on_read, &State::on_skip, nullptr) !=
            ARCHIVE_OK) {
        return reader.failure();
    }
    return reader;
}

Result<std::optional<Entry>> TarReader::next() {
    const auto scope = state_->locale.enter();
    archive_entry* raw = nullptr;
    const int outcome = ::archive_read_next_header(state_->handle.get(), &raw);
    if (outcome == ARCHIVE_EOF) return std::optional<Entry>();
    if (outcome == ARCHIVE_OK || (outcome == ARCHIVE_WARN && is_harmless(state_->handle.get()))) {
        TRY(Entry entry, convert(raw, state_->limits));
        return std::optional<Entry>(std::move(entry));
    }
    return failure();
}

Result<std::optional<Chunk>> TarReader::next_chunk() {
    const auto scope = state_->locale.enter();
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int outcome = ::archive_read_data_block(state_->handle.get(), &bytes, &size, &offset);
    if (outcome == ARCHIVE_EOF) return std::optional<Chunk>();
    if (outcome != ARCHIVE_OK || offset < 0) return failure();
    return std::optional<Chunk>(Chunk{static_cast<std::uint64_t>(offset), {static_cast<const char*>(bytes), size}});
}

std::optional<std::uint64_t> TarReader::position_of(const Chunk& chunk) const {
    // libarchive hands out pieces of our own buffer unless it had to join two of them.
    const std::less<const char*> before;
    const char* const begin = state_->buffer.data();
    const char* const end = begin + state_->filled;
    if (before(chunk.bytes.data(), begin) || !before(chunk.bytes.data(), end)) return std::nullopt;
    return state_->position - static_cast<std::uint64_t>(end - chunk.bytes.data());
}

}  // namespace coracle::layer

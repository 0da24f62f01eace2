// Reads the entries of a tar stream with libarchive: ustar, PAX, GNU; names come as bytes, in any locale.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layer/byte_source.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

enum class EntryKind { file, directory, symlink, hardlink, fifo, device };

struct Xattr {
    std::string name;
    std::string value;
};

struct Entry {
    std::string path;  // as the archive has it
    EntryKind kind = EntryKind::file;
    std::string link;  // target of a symlink or hardlink, as the archive has it
    mode_t mode = 0;   // permission bits with set-ID and sticky
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    timespec mtime{};
    std::uint64_t size = 0;  // apparent size of a file, holes included
    std::vector<Xattr> xattrs;
};

// A piece of a file's content; what lies between pieces is a hole.
struct Chunk {
    std::uint64_t offset = 0;
    std::span<const char> bytes;
};

class TarReader {
public:
    // `source` must outlive the reader.
    static Result<TarReader> open(ByteSource& source, const Limits& limits);
    TarReader(TarReader&&) noexcept;
    ~TarReader();

    // No value: the end-of-archive mark. Content of the entry before that was not read is passed over.
    Result<std::optional<Entry>> next();
    // The current entry's content, in order of offsets; valid until the next call.
    Result<std::optional<Chunk>> next_chunk();
    // Where in the stream the chunk that next_chunk() gave last begins; no value where its bytes were moved.
    std::optional<std::uint64_t> position_of(const Chunk& chunk) const;

private:
    struct State;
    explicit TarReader(std::unique_ptr<State> state);
    Error failure() const;
    std::unique_ptr<State> state_;
};

}  // namespace coracle::layer

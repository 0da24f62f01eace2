// Writes layer entries below a directory descriptor, and never outside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layer/attributes.hpp"
#include "layer/entry_path.hpp"
#include "layer/parents.hpp"
#include "layer/tar_reader.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::layer {

// One tree; takes one layer in overlay style or several, lowest first, in flat style. An entry replaces what has its
// name and never writes through it; only a directory over a directory keeps the content.
class TreeWriter {
public:
    // `root_fd` must stay open. The directory should be empty.
    TreeWriter(int root_fd, Owners owners, std::unique_ptr<Whiteouts> whiteouts);
    TreeWriter(const TreeWriter&) = delete;
    TreeWriter& operator=(const TreeWriter&) = delete;

    void begin_layer();
    // The content of a file is pulled from `reader`, which stands at the entry.
    Result<> write(const EntryPath& path, const Entry& entry, TarReader& reader);
    // Directories get their modes and times now; nothing may be written afterwards.
    Result<> finish() &&;

    const std::vector<std::string>& warnings() const { return warnings_.texts(); }

private:
    Result<> write_entry(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader);
    Result<> write_directory(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_file(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader);
    Result<> write_symlink(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_hardlink(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_fifo(int parent_fd, const EntryPath& path, const Entry& entry);
    template <class Create>
    Result<> create(int parent_fd, const EntryPath& path, std::string_view act, Create make);

    int root_;
    Warnings warnings_;
    Attributes attributes_;
    std::unique_ptr<Whiteouts> whiteouts_;
    PendingDirectories directories_;
    Parents parents_;
};

}  // namespace coracle::layer

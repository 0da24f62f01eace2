// Writes layer entries below a directory descriptor, and never outside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layer/attributes.hpp"
#include "layer/entry_path.hpp"
#include "layer/lower_links.hpp"
#include "layer/parents.hpp"
#include "layer/tar_reader.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::layer {

// The tree of one layer, whiteouts as overlayfs reads them. An entry replaces what has its name and never writes
// through it; only a directory over a directory keeps the content.
class TreeWriter {
public:
    // `root_fd` must stay open. The directory should be empty.
    TreeWriter(int root_fd, Owners owners, OpaqueMark mark, const Limits& limits = {});
    TreeWriter(const TreeWriter&) = delete;
    TreeWriter& operator=(const TreeWriter&) = delete;

    // The content of a file is pulled from `reader`, which stands at the entry.
    Result<> write(const EntryPath& path, const Entry& entry, TarReader& reader);
    // The layer names something that only the layers below it can tell: a hard link to a file of theirs, or a directory
    // that has no entry of its own and must look as it does below. Its tree then is another one above other layers.
    bool reaches_down() const { return !links_.empty() || directories_.any_implied(); }
    // Fills in what reaches down - nothing below: `lower` is null - and gives directories their modes and times.
    // Nothing may be written afterwards.
    Result<> finish(const LowerLayers* lower = nullptr) &&;

    const std::vector<std::string>& warnings() const { return warnings_.texts(); }

private:
    Result<> write_entry(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader);
    Result<> write_directory(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_file(int parent_fd, const EntryPath& path, const Entry& entry, TarReader& reader);
    Result<> write_symlink(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_hardlink(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> write_fifo(int parent_fd, const EntryPath& path, const Entry& entry);
    Result<> link_to_lower(int parent_fd, const EntryPath& path, const std::string& target);
    template <class Create>
    Result<> create(int parent_fd, const EntryPath& path, std::string_view act, Create make);

    int root_;
    Limits limits_;
    Warnings warnings_;
    Attributes attributes_;
    Whiteouts whiteouts_;
    LowerLinks links_;
    PendingDirectories directories_;
    Parents parents_;
};

}  // namespace coracle::layer

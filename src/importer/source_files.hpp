// The files of an import source by name, whether they lie in a directory or in an archive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_fd.hpp"
#include "content/store.hpp"
#include "coracle/error.hpp"
#include "layer/byte_source.hpp"
#include "layer/limits.hpp"

namespace coracle::importer {

struct SourceFile {
    std::unique_ptr<layer::ByteSource> bytes;  // valid as long as the SourceFiles
    std::uint64_t size = 0;
};

class SourceFiles {
public:
    virtual ~SourceFiles() = default;
    // A regular file at its beginning. Links are followed as long as they stay inside; nothing that a FIFO or a device
    // in its place could do blocks. May be called on any thread. Error: not_found or corrupt, naming the file.
    virtual Result<SourceFile> open(const std::string& name) const = 0;
    virtual bool has(const std::string& name) const = 0;

    // A manifest, an index, a config. More than `bound` or what oci/ parses at most is an Error.
    Result<std::string> read_document(const std::string& name, Bytes bound) const;
};

// A directory, such as an OCI image layout.
std::unique_ptr<SourceFiles> directory_files(base::UniqueFd dir);

// An archive. The members of a plain one are read where they lie; those of a compressed one are unpacked into a scratch
// folder of the store under names of our own. `archive_fd` is a regular file and must stay open.
Result<std::unique_ptr<SourceFiles>> archive_files(const content::Store& store, int archive_fd,
                                                   const layer::Limits& limits);

}  // namespace coracle::importer

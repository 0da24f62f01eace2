// The files of an import source by name, whether they lie in a directory or in an archive.
#pragma once

#include <memory>
#include <string>

#include "base/unique_fd.hpp"
#include "content/store.hpp"
#include "coracle/error.hpp"
#include "layer/decoder.hpp"

namespace coracle::image {

class SourceFiles {
public:
    virtual ~SourceFiles() = default;
    // A regular file, open for reading at its beginning. Links are followed as long as they stay inside; nothing that
    // a FIFO or a device in its place could do blocks. Error: not_found or corrupt, naming the file.
    virtual Result<base::UniqueFd> open(const std::string& name) const = 0;
    virtual bool has(const std::string& name) const = 0;

    Result<std::string> read_document(const std::string& name) const;
};

// A directory, such as an OCI image layout.
std::unique_ptr<SourceFiles> directory_files(base::UniqueFd dir);

// An archive, extracted file by file into a scratch folder of the store under names of our own.
Result<std::unique_ptr<SourceFiles>> archive_files(const content::Store& store, int archive_fd);

}  // namespace coracle::image

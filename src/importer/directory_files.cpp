// Implements the files of a source directory, and reading documents of any source.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "importer/file_range.hpp"
#include "importer/source_files.hpp"
#include "oci/json.hpp"

namespace coracle::importer {

namespace {

class DirectoryFiles final : public SourceFiles {
public:
    explicit DirectoryFiles(base::UniqueFd dir) : dir_(std::move(dir)) {}

    Result<SourceFile> open(const std::string& name) const override {
        // BENEATH, not IN_ROOT: a link that leads out is an error here, not a name inside.
        base::UniqueFd file = base::open_resolved(dir_.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                                  RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
        if (!file && errno == EXDEV) return make_error(ErrorCode::corrupt, "'" + name + "' leads out of the source");
        if (!file) return os_error("open '" + name + "'", errno);
        struct stat status {};
        if (::fstat(file.get(), &status) != 0) return os_error("stat '" + name + "'", errno);
        if (!S_ISREG(status.st_mode)) return make_error(ErrorCode::corrupt, "'" + name + "' is not a regular file");
        const auto size = static_cast<std::uint64_t>(status.st_size);
        return SourceFile{std::make_unique<FileRange>(std::move(file), size), size};
    }

    bool has(const std::string& name) const override { return base::exists_at(dir_.get(), name); }

private:
    base::UniqueFd dir_;
};

}  // namespace

Result<std::string> SourceFiles::read_document(const std::string& name, Bytes bound) const {
    TRY(const SourceFile file, open(name));
    const Bytes most = std::min(bound, oci::max_document);
    if (file.size > most.count) return layer::limit_exceeded("'" + name + "'", most, "max_document");
    std::string text(file.size, '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        TRY(const std::size_t got, file.bytes->read(std::span(text).subspan(have)));
        if (got == 0) break;
        have += got;
    }
    text.resize(have);
    return text;
}

std::unique_ptr<SourceFiles> directory_files(base::UniqueFd dir) {
    return std::make_unique<DirectoryFiles>(std::move(dir));
}

}  // namespace coracle::importer

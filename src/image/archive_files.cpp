// Implements the files of a source archive.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include "base/files.hpp"
#include "base/try.hpp"
#include "image/source_files.hpp"
#include "layer/bounded_source.hpp"
#include "layer/entry_path.hpp"
#include "layer/tar_reader.hpp"

namespace coracle::image {

namespace {

constexpr std::size_t most_members = 20'000;
constexpr int most_links = 8;

// "a/b/../c" -> "a/c". No value where ".." leads out.
std::optional<std::string> normalised(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        const std::string part = path.substr(at, slash - at);
        at = slash + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && parts.empty()) return std::nullopt;
        if (part == "..") {
            parts.pop_back();
        } else {
            parts.push_back(part);
        }
    }
    std::string joined;
    for (const std::string& part : parts) joined += (joined.empty() ? "" : "/") + part;
    return joined;
}

// What a symlink at `path` stands for; an absolute one begins at the archive's root.
std::string linked_from(const std::string& path, const std::string& target) {
    const std::size_t slash = path.rfind('/');
    if (target.starts_with('/') || slash == std::string::npos) return target;
    return path.substr(0, slash + 1) + target;
}

class ArchiveFiles final : public SourceFiles {
public:
    explicit ArchiveFiles(content::Scratch scratch) : scratch_(std::move(scratch)) {}

    Result<> extract(layer::TarReader& reader) {
        for (;;) {
            TRY(const auto entry, reader.next());
            if (!entry) return {};
            TRY_OK(take(*entry, reader));
        }
    }

    Result<base::UniqueFd> open(const std::string& name) const override {
        const auto stored = find(name);
        if (stored) return base::open_regular_at(scratch_.dir().get(), *stored);
        return make_error(ErrorCode::not_found, "the archive has no file '" + layer::printable(name) + "'");
    }

    bool has(const std::string& name) const override { return find(name).has_value(); }

private:
    // Names with ".." are nobody's: they are passed over, and a manifest that wants them does not find them.
    Result<> take(const layer::Entry& entry, layer::TarReader& reader) {
        const auto path = normalised(entry.path);
        if (!path || path->empty()) return {};
        if (stored_.size() + links_.size() >= most_members) {
            return make_error(ErrorCode::corrupt, "the members of the archive exceed the limit of 20000");
        }
        stored_.erase(*path);
        links_.erase(*path);
        if (entry.kind == layer::EntryKind::symlink) links_[*path] = linked_from(*path, entry.link);
        if (entry.kind == layer::EntryKind::hardlink) links_[*path] = entry.link;
        if (entry.kind == layer::EntryKind::file) TRY_OK(store(*path, reader));
        return {};
    }

    Result<> store(const std::string& path, layer::TarReader& reader) {
        const std::string name = std::to_string(serial_++);
        TRY(const base::UniqueFd file,
            base::open_file_at(scratch_.dir().get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
        for (std::uint64_t at = 0;;) {
            TRY(const auto chunk, reader.next_chunk());
            if (!chunk) break;
            if (chunk->offset != at) return make_error(ErrorCode::corrupt, "a member of the archive is sparse");
            TRY_OK(base::write_all(file.get(), {chunk->bytes.data(), chunk->bytes.size()}, layer::printable(path)));
            at += chunk->bytes.size();
        }
        stored_[path] = name;
        return {};
    }

    std::optional<std::string> find(const std::string& name) const {
        auto path = normalised(name);
        for (int links = 0; path && links < most_links; ++links) {
            if (const auto file = stored_.find(*path); file != stored_.end()) return file->second;
            const auto link = links_.find(*path);
            if (link == links_.end()) return std::nullopt;
            path = normalised(link->second);
        }
        return std::nullopt;
    }

    content::Scratch scratch_;
    std::map<std::string, std::string> stored_;  // path in the archive -> file in the scratch folder
    std::map<std::string, std::string> links_;   // path in the archive -> path it stands for
    std::uint64_t serial_ = 0;
};

}  // namespace

Result<std::unique_ptr<SourceFiles>> archive_files(const content::Store& store, int archive_fd) {
    TRY(content::Scratch scratch, store.new_scratch());
    auto files = std::make_unique<ArchiveFiles>(std::move(scratch));
    struct stat status {};
    if (::fstat(archive_fd, &status) != 0) return os_error("stat the archive", errno);
    layer::FileSource raw(archive_fd);
    TRY(const layer::Decoder decoder, layer::make_decoder(raw));
    const layer::Limits limits;
    layer::BoundedSource bounded(*decoder.source,
                                 layer::longest_stream(static_cast<std::uint64_t>(status.st_size), limits));
    TRY(layer::TarReader reader, layer::TarReader::open(bounded, limits));
    TRY_OK(files->extract(reader));
    return std::unique_ptr<SourceFiles>(std::move(files));
}

}  // namespace coracle::image

// Implements the files of a source archive.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include "base/files.hpp"
#include "base/try.hpp"
#include "importer/file_range.hpp"
#include "importer/source_files.hpp"
#include "layer/bounded_source.hpp"
#include "layer/decoder.hpp"
#include "layer/entry_path.hpp"
#include "layer/tar_reader.hpp"

namespace coracle::importer {

namespace {

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
    // With `plain_fd`, the members are read where they lie in that file.
    ArchiveFiles(content::Scratch scratch, std::optional<int> plain_fd, std::uint64_t most_members)
        : scratch_(std::move(scratch)), plain_fd_(plain_fd), most_members_(most_members) {}

    Result<> index(layer::TarReader& reader) {
        for (;;) {
            TRY(const auto entry, reader.next());
            if (!entry) return {};
            TRY_OK(take(*entry, reader));
        }
    }

    Result<SourceFile> open(const std::string& name) const override {
        const auto found = find(name);
        if (!found) {
            return make_error(ErrorCode::not_found, "the archive has no file '" + layer::printable(name) + "'");
        }
        if (found->offset) {
            return SourceFile{std::make_unique<FileRange>(*plain_fd_, *found->offset, found->size), found->size};
        }
        TRY(base::UniqueFd file, base::open_regular_at(scratch_.dir().get(), found->stored));
        return SourceFile{std::make_unique<FileRange>(std::move(file), found->size), found->size};
    }

    bool has(const std::string& name) const override { return find(name).has_value(); }

private:
    struct Member {
        std::uint64_t size = 0;
        std::optional<std::uint64_t> offset;  // in the archive
        std::string stored;                   // else its file in the scratch folder
    };

    // Names with ".." are nobody's: they are passed over, and a manifest that wants them does not find them.
    Result<> take(const layer::Entry& entry, layer::TarReader& reader) {
        const auto path = normalised(entry.path);
        if (!path || path->empty()) return {};
        if (members_.size() + links_.size() >= most_members_) {
            return layer::limit_exceeded("the number of the archive's members", most_members_, "max_archive_members");
        }
        members_.erase(*path);
        links_.erase(*path);
        if (entry.kind == layer::EntryKind::symlink) links_[*path] = linked_from(*path, entry.link);
        if (entry.kind == layer::EntryKind::hardlink) links_[*path] = entry.link;
        if (entry.kind != layer::EntryKind::file) return {};
        Member member{.size = entry.size, .offset = {}, .stored = {}};
        TRY(const auto first, reader.next_chunk());
        if (plain_fd_ && first && first->offset == 0) member.offset = reader.position_of(*first);
        if (!member.offset) TRY_OK(store(*path, first, reader, member));
        members_[*path] = std::move(member);
        return {};
    }

    Result<> store(const std::string& path, std::optional<layer::Chunk> chunk, layer::TarReader& reader,
                   Member& member) {
        member.stored = std::to_string(serial_++);
        TRY(const base::UniqueFd file,
            base::open_file_at(scratch_.dir().get(), member.stored, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
        std::uint64_t at = 0;
        while (chunk) {
            if (chunk->offset != at) break;
            TRY_OK(base::write_all(file.get(), {chunk->bytes.data(), chunk->bytes.size()}, layer::printable(path)));
            at += chunk->bytes.size();
            TRY(chunk, reader.next_chunk());
        }
        if (at == member.size) return {};
        return make_error(ErrorCode::corrupt, "the member '" + layer::printable(path) + "' of the archive is sparse");
    }

    std::optional<Member> find(const std::string& name) const {
        auto path = normalised(name);
        for (int links = 0; path && links < most_links; ++links) {
            if (const auto member = members_.find(*path); member != members_.end()) return member->second;
            const auto link = links_.find(*path);
            if (link == links_.end()) return std::nullopt;
            path = normalised(link->second);
        }
        return std::nullopt;
    }

    content::Scratch scratch_;
    std::optional<int> plain_fd_;
    std::uint64_t most_members_;
    std::map<std::string, Member> members_;
    std::map<std::string, std::string> links_;  // path in the archive -> path it stands for
    std::uint64_t serial_ = 0;
};

}  // namespace

Result<std::unique_ptr<SourceFiles>> archive_files(const content::Store& store, int archive_fd,
                                                   const layer::Limits& limits) {
    TRY(content::Scratch scratch, store.new_scratch());
    struct stat status {};
    if (::fstat(archive_fd, &status) != 0) return os_error("stat the archive", errno);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    FileRange raw(archive_fd, 0, size);
    TRY(const layer::Decoder decoder, layer::make_decoder(raw));
    const bool plain = decoder.compression == layer::Compression::none;
    auto files = std::make_unique<ArchiveFiles>(std::move(scratch), plain ? std::optional(archive_fd) : std::nullopt,
                                                limits.archive_members);
    FileRange again(archive_fd, 0, size);
    layer::BoundedSource bounded(plain ? static_cast<layer::ByteSource&>(again) : *decoder.source, size, limits);
    TRY(layer::TarReader reader, layer::TarReader::open(bounded, limits));
    TRY_OK(files->index(reader));
    return std::unique_ptr<SourceFiles>(std::move(files));
}

}  // namespace coracle::importer

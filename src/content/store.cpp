// Implements the store.
#include "content/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"

namespace coracle::content {

namespace {

constexpr std::string_view marker = "{\"imageLayoutVersion\": \"1.0.0\"}\n";

// The marker comes last: where it is, the rest is complete.
Result<> make_layout(int dir) {
    TRY_OK(base::make_dir_at(dir, paths::blobs));
    TRY_OK(base::make_dir_at(dir, paths::blob_folder("sha256")));
    // Set-user-ID files of images must not be within reach of other users of the host.
    TRY_OK(base::make_dir_at(dir, paths::layers, 0700));
    TRY_OK(base::make_dir_at(dir, paths::temporary, 0700));
    TRY(const auto lock, base::FileLock::acquire(dir, paths::index_lock));
    if (!base::exists_at(dir, paths::index)) {
        TRY_OK(base::replace_file_at(dir, paths::index, oci::to_document({}), base::Durability::disk));
    }
    return base::replace_file_at(dir, paths::layout_marker, marker, base::Durability::disk);
}

Result<> make_store(const std::filesystem::path& root) {
    TRY_OK(base::make_dirs(root.parent_path()));
    return base::make_dir_at(AT_FDCWD, root.string(), 0700);
}

Error in_store(Error error, const std::filesystem::path& root) {
    return std::move(error)
        .within("store '" + root.string() + "'")
        .with_hint("name a directory that you may write with --store");
}

// "index.json.0123456789ab.tmp": what a writer left that was killed before its rename. Under the index lock only.
void sweep_replacements(int dir) {
    const auto names = base::list_dir(dir);
    if (!names) return;
    for (const std::string& name : names.value()) {
        if (name.starts_with(paths::index + ".") && name.ends_with(".tmp")) ::unlinkat(dir, name.c_str(), 0);
    }
}

std::string name_of(const oci::Digest& digest) { return "blob " + digest.short_hex(); }

}  // namespace

Result<Store> Store::open(const std::filesystem::path& path) {
    const std::filesystem::path root = std::filesystem::absolute(path).lexically_normal();
    if (auto made = make_store(root); !made) return in_store(std::move(made).error(), root);
    auto dir = base::open_dir(root);
    if (!dir) return in_store(std::move(dir).error(), root);
    if (!base::exists_at(dir->get(), paths::layout_marker)) {
        if (auto made = make_layout(dir->get()); !made) return in_store(std::move(made).error(), root);
    }
    Store store(root, std::move(dir).value());
    sweep_scratch(store.dir_);
    return store;
}

bool Store::has(const oci::Digest& digest, std::uint64_t size) const {
    struct stat status {};
    return ::fstatat(dir_.get(), paths::blob(digest).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == size;
}

Result<base::UniqueFd> Store::open_blob(const oci::Digest& digest, std::uint64_t size) const {
    TRY(base::UniqueFd file, base::open_regular_at(dir_.get(), paths::blob(digest)).within(name_of(digest)));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return os_error("stat " + name_of(digest), errno);
    if (static_cast<std::uint64_t>(status.st_size) == size) return file;
    return make_error(ErrorCode::corrupt, name_of(digest) + ": " + std::to_string(status.st_size) +
                                              " bytes long, its descriptor says " + std::to_string(size));
}

Result<std::string> Store::read_blob(const oci::Digest& digest, std::uint64_t size) const {
    TRY(const base::UniqueFd file, open_blob(digest, size));
    TRY(std::string text, base::read_all(file.get(), oci::max_document, name_of(digest)));
    TRY(const oci::Digest found, digest_of(text, digest.algorithm()));
    if (found == digest) return text;
    return make_error(ErrorCode::corrupt, name_of(digest) + ": its content has the digest " + found.str(),
                      "the store is damaged: import the image again");
}

Result<BlobWriter> Store::new_blob(std::string_view algorithm) const { return BlobWriter::create(dir_, algorithm); }

Result<BlobInfo> Store::write_blob(std::string_view content) const {
    TRY(BlobWriter writer, new_blob());
    TRY_OK(writer.write(content));
    return std::move(writer).commit();
}

Error Store::explained(Error error) const {
    if (error.os_errno == ENOSPC || error.os_errno == EDQUOT) {
        error.hint =
            "the file system of '" + root_.string() + "' is full: free space there, or name another store with --store";
    }
    return error;
}

Result<std::vector<oci::Descriptor>> Store::tags() const {
    TRY(const std::string text, base::read_file_at(dir_.get(), paths::index, oci::max_document));
    TRY(oci::ImageIndex index, oci::parse_image_index(text).within("store"));
    return std::move(index.manifests);
}

Result<> Store::replace_tags(const std::function<void(std::vector<oci::Descriptor>&)>& change) const {
    TRY(const auto lock, base::FileLock::acquire(dir_.get(), paths::index_lock));
    sweep_replacements(dir_.get());
    TRY(auto entries, tags());
    oci::ImageIndex index{std::move(entries)};
    change(index.manifests);
    return base::replace_file_at(dir_.get(), paths::index, oci::to_document(index), base::Durability::disk);
}

Result<> Store::tag(const std::string& name, oci::Descriptor manifest) const {
    if (name == reserved_name) {
        return make_error(ErrorCode::invalid_request, "'host' is the reserved name of the host's own programs",
                          "choose another name");
    }
    manifest.ref_name = name;
    return replace_tags([&](std::vector<oci::Descriptor>& entries) {
               std::erase_if(entries, [&](const oci::Descriptor& entry) { return entry.ref_name == name; });
               entries.push_back(std::move(manifest));
           })
        .within("tag '" + name + "'");
}

Result<> Store::untag(const std::vector<oci::Descriptor>& entries) const {
    const auto is_meant = [&](const oci::Descriptor& there) {
        return std::any_of(entries.begin(), entries.end(), [&](const oci::Descriptor& entry) {
            return entry.ref_name == there.ref_name && entry.digest == there.digest;
        });
    };
    return replace_tags([&](std::vector<oci::Descriptor>& all) { std::erase_if(all, is_meant); })
        .within("remove names");
}

Result<base::FileLock> Store::begin_intake() const {
    return base::FileLock::acquire(dir_.get(), paths::content_lock, base::LockKind::shared).within("store");
}

Result<base::FileLock> Store::begin_removal(std::chrono::milliseconds patience) const {
    constexpr auto pause = std::chrono::milliseconds(20);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        TRY(auto lock, base::FileLock::try_acquire(dir_.get(), paths::content_lock).within("store"));
        if (lock) return std::move(*lock);
        if (std::chrono::steady_clock::now() >= deadline) break;
        std::this_thread::sleep_for(pause);
    }
    return make_error(ErrorCode::unavailable, "another coracle is bringing an image in or removing one",
                      "wait until it has ended, then run: coracle gc");
}

}  // namespace coracle::content

// Implements the atomic writing of blobs.
#include "content/blob_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"

namespace coracle::content {

namespace {

constexpr const char* file_name = "blob";

Result<> sync_folder(int store, const std::string& folder) {
    TRY(const base::UniqueFd dir, base::open_dir_at(store, folder));
    if (::fsync(dir.get()) != 0) return os_error("fsync '" + folder + "'", errno);
    return {};
}

}  // namespace

Result<BlobWriter> BlobWriter::create(const base::UniqueFd& store, std::string_view algorithm) {
    TRY(Hasher hasher, Hasher::create(algorithm));
    TRY(Scratch scratch, Scratch::create(store));
    TRY(base::UniqueFd file,
        base::open_file_at(scratch.dir().get(), file_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
    return BlobWriter(store, std::move(scratch), std::move(file), std::move(hasher));
}

Result<> BlobWriter::write(std::string_view bytes) {
    TRY_OK(hasher_.add(bytes));
    TRY_OK(base::write_all(file_.get(), bytes, "blob"));
    size_ += bytes.size();
    return {};
}

Result<BlobInfo> BlobWriter::publish(BlobInfo info) {
    const std::string folder = paths::blob_folder(info.digest.algorithm());
    TRY_OK(base::make_dir_at(store_, folder));
    if (::fsync(file_.get()) != 0) return os_error("fsync blob " + info.digest.short_hex(), errno);
    if (::renameat(scratch_.dir().get(), file_name, store_, paths::blob(info.digest).c_str()) != 0) {
        return os_error("rename to blob " + info.digest.short_hex(), errno);
    }
    TRY_OK(sync_folder(store_, folder));
    return info;
}

Result<BlobInfo> BlobWriter::commit() && {
    TRY(oci::Digest digest, std::move(hasher_).finish());
    return publish(BlobInfo{std::move(digest), size_});
}

Result<BlobInfo> BlobWriter::commit_as(const oci::Digest& digest, std::uint64_t size) && {
    if (size_ != size) {
        return make_error(ErrorCode::corrupt, "blob " + digest.short_hex() + ": " + std::to_string(size_) +
                                                  " bytes came, its descriptor says " + std::to_string(size));
    }
    TRY(const oci::Digest found, std::move(hasher_).finish());
    if (found != digest) {
        return make_error(ErrorCode::corrupt, "blob " + digest.short_hex() + ": its content has the digest " +
                                                  found.str() + ", not " + digest.str());
    }
    return publish(BlobInfo{digest, size_});
}

}  // namespace coracle::content

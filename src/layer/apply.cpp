// Implements the one pass: blob -> decompress -> bound -> diff_id -> tar -> tree.
#include "layer/apply.hpp"

#include "base/try.hpp"
#include "layer/bounded_source.hpp"
#include "layer/decoder.hpp"
#include "layer/read_ahead.hpp"

namespace coracle::layer {

namespace {

// Counts what the entries ask for before anything is made for them.
class Budget {
public:
    explicit Budget(const Unpacking& how) : limits_(how.limits), image_(how.image) {}

    Result<> spend(const Entry& entry) {
        const std::uint64_t size = entry.kind == EntryKind::file ? entry.size : 0;
        if (++entries_ > limits_.entries) {
            return limit_exceeded("the number of entries", limits_.entries, "max_entries");
        }
        if (size > limits_.unpacked.count - bytes_) {
            return limit_exceeded("the size of the files", limits_.unpacked, "max_unpacked");
        }
        bytes_ += size;
        return image_ == nullptr ? Result<>() : spend_of_image(size);
    }

private:
    Result<> spend_of_image(std::uint64_t size) {
        if (image_->entries.fetch_add(1) >= limits_.image_entries) {
            return limit_exceeded("the number of entries of the image", limits_.image_entries, "max_image_entries");
        }
        if (image_->unpacked.fetch_add(size) + size <= limits_.image_unpacked.count) return {};
        return limit_exceeded("the size of the image's files", limits_.image_unpacked, "max_image_unpacked");
    }

    const Limits& limits_;
    ImageBudget* image_;
    std::uint64_t entries_ = 0;
    std::uint64_t bytes_ = 0;
};

Result<> write_entries(ByteSource& tar, TreeWriter& tree, const Unpacking& how) {
    TRY(TarReader reader, TarReader::open(tar, how.limits));
    Budget budget(how);
    for (;;) {
        TRY(const auto entry, reader.next());
        if (!entry) return {};
        TRY_OK(budget.spend(*entry));
        TRY(const EntryPath path, parse_entry_path(entry->path, how.limits));
        TRY_OK(tree.write(path, *entry, reader));
    }
}

Result<oci::Digest> write_tar(ByteSource& bytes, TreeWriter& tree, const Unpacking& how, std::string_view algorithm) {
    TRY(content::Hasher hasher, content::Hasher::create(algorithm));
    HashingSource tar(bytes, std::move(hasher));
    TRY_OK(write_entries(tar, tree, how));
    // Padding after the end of the archive belongs to the digest.
    TRY_OK(drain(tar, how.limits.stream.count, "tar"));
    return std::move(tar).finish();
}

}  // namespace

Result<oci::DiffId> apply_layer(ByteSource& blob, std::uint64_t size, TreeWriter& tree, const Unpacking& how,
                                std::string_view algorithm) {
    TRY(const Decoder decoder, make_decoder(blob, how.limits.decoder));
    BoundedSource bounded(*decoder.source, size, how.limits);
    if (!how.pipelined) {
        TRY(oci::Digest digest, write_tar(bounded, tree, how, algorithm));
        return oci::DiffId{std::move(digest)};
    }
    ReadAhead ahead(bounded);
    TRY(oci::Digest digest, write_tar(ahead, tree, how, algorithm));
    return oci::DiffId{std::move(digest)};
}

Result<> apply_layer_as(const oci::DiffId& diff_id, ByteSource& blob, std::uint64_t size, TreeWriter& tree,
                        const Unpacking& how) {
    TRY(const oci::DiffId found, apply_layer(blob, size, tree, how, diff_id.digest.algorithm()));
    if (found == diff_id) return {};
    return make_error(ErrorCode::corrupt, "its diff_id is " + found.digest.str() + ", not " + diff_id.digest.str());
}

}  // namespace coracle::layer

// Implements the one pass: file -> digest -> decompress -> bound -> diff_id -> tar -> tree.
#include "layer/apply.hpp"

#include "base/try.hpp"
#include "layer/bounded_source.hpp"
#include "layer/decoder.hpp"

namespace coracle::layer {

namespace {

Error exceeded(std::string_view what, const std::string& limit) {
    return make_error(ErrorCode::corrupt, std::string(what) + " exceed the limit of " + limit,
                      "the layer looks like a decompression bomb");
}

// Counts what the entries ask for before anything is made for them.
class Budget {
public:
    explicit Budget(const Limits& limits) : limits_(limits) {}

    Result<> spend(const Entry& entry) {
        if (++entries_ > limits_.entries) return exceeded("the entries", std::to_string(limits_.entries));
        if (entry.kind != EntryKind::file) return {};
        if (entry.size > limits_.unpacked.count - bytes_) {
            return exceeded("the sizes of the files", to_string(limits_.unpacked));
        }
        bytes_ += entry.size;
        return {};
    }

private:
    const Limits& limits_;
    std::uint64_t entries_ = 0;
    std::uint64_t bytes_ = 0;
};

Result<> write_entries(ByteSource& tar, TreeWriter& tree, const Limits& limits) {
    TRY(TarReader reader, TarReader::open(tar, limits));
    Budget budget(limits);
    tree.begin_layer();
    for (;;) {
        TRY(const auto entry, reader.next());
        if (!entry) return {};
        TRY_OK(budget.spend(*entry));
        TRY(const EntryPath path, parse_entry_path(entry->path, limits));
        TRY_OK(tree.write(path, *entry, reader));
    }
}

Result<> check(std::string_view what, const oci::Digest& found, const oci::Digest& wanted) {
    if (found == wanted) return {};
    return make_error(ErrorCode::corrupt, "its " + std::string(what) + " is " + found.str() + ", not " + wanted.str());
}

Result<> apply(const LayerBlob& blob, TreeWriter& tree, const Limits& limits) {
    FileSource file(blob.fd);
    TRY(content::Hasher blob_hasher, content::Hasher::create(blob.digest.algorithm()));
    HashingSource compressed(file, std::move(blob_hasher));
    TRY(const Decoder decoder, make_decoder(compressed));
    BoundedSource bounded(*decoder.source, longest_stream(blob.size, limits));
    TRY(content::Hasher tar_hasher, content::Hasher::create(blob.diff_id.digest.algorithm()));
    HashingSource tar(bounded, std::move(tar_hasher));

    TRY_OK(write_entries(tar, tree, limits));
    // Padding after the end of the archive belongs to the digest.
    TRY_OK(drain(tar, limits.stream.count, "tar"));
    if (compressed.count() != blob.size) {
        return make_error(ErrorCode::corrupt, "it has " + std::to_string(compressed.count()) +
                                                  " bytes, its descriptor says " + std::to_string(blob.size));
    }
    TRY(const oci::Digest digest, std::move(compressed).finish());
    TRY_OK(check("digest", digest, blob.digest));
    TRY(const oci::Digest diff_id, std::move(tar).finish());
    return check("diff_id", diff_id, blob.diff_id.digest);
}

}  // namespace

Result<> apply_layer(const LayerBlob& blob, TreeWriter& tree, const Limits& limits) {
    return apply(blob, tree, limits).within("layer " + blob.digest.short_hex()).at(Stage::unpack);
}

}  // namespace coracle::layer

// Implements the one pass: blob -> decompress -> bound -> diff_id -> tar -> tree.
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

}  // namespace

Result<> apply_layer(ByteSource& blob, std::uint64_t size, const oci::DiffId& diff_id, TreeWriter& tree,
                     const Limits& limits) {
    TRY(const Decoder decoder, make_decoder(blob));
    BoundedSource bounded(*decoder.source, longest_stream(size, limits));
    TRY(content::Hasher hasher, content::Hasher::create(diff_id.digest.algorithm()));
    HashingSource tar(bounded, std::move(hasher));
    TRY_OK(write_entries(tar, tree, limits));
    // Padding after the end of the archive belongs to the digest.
    TRY_OK(drain(tar, limits.stream.count, "tar"));
    TRY(const oci::Digest found, std::move(tar).finish());
    if (found == diff_id.digest) return {};
    return make_error(ErrorCode::corrupt, "its diff_id is " + found.str() + ", not " + diff_id.digest.str());
}

}  // namespace coracle::layer

// Implements the intake: which layers are missing, one pass over each, publication of what is proven.
#include "snapshot/intake.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "layer/apply.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::snapshot {

namespace paths = content::paths;

namespace {

constexpr mode_t tree_mode = 0755;

// Writes a blob into the store while somebody else reads it.
class TeeSource final : public layer::ByteSource {
public:
    TeeSource(layer::ByteSource& inner, content::BlobWriter& blob, std::uint64_t size)
        : inner_(inner), blob_(blob), size_(size) {}

    Result<std::size_t> read(std::span<char> buffer) override {
        TRY(const std::size_t got, inner_.read(buffer));
        if (got > size_ - blob_.size()) return layer::wrong_size(blob_.size() + got, size_);
        TRY_OK(blob_.write({buffer.data(), got}));
        return got;
    }

private:
    layer::ByteSource& inner_;
    content::BlobWriter& blob_;
    std::uint64_t size_;
};

Result<> empty_directory(int dir_fd) {
    TRY(const auto names, base::list_dir(dir_fd));
    for (const std::string& name : names) TRY_OK(base::remove_tree_at(dir_fd, name));
    return {};
}

// One call of take(): a scratch folder that holds the trees in the making.
class Taking {
public:
    Taking(const content::Store& store, const IntakeOptions& options, const content::Scratch& scratch,
           std::vector<std::string>& warnings)
        : store_(store),
          options_(options),
          owner_folder_(folder_of(options.ownership, options.maps)),
          scratch_(scratch),
          warnings_(warnings) {}

    Result<> run(const std::vector<IncomingLayer>& layers) {
        for (const IncomingLayer& layer : layers) {
            const auto taken = take(layer).within("layer " + layer.descriptor.digest.short_hex());
            if (taken) continue;
            (void)empty_directory(scratch_.dir().get());  // subordinate ids: only here there is the right for it
            return taken;
        }
        return publish_all();
    }

private:
    Result<> take(const IncomingLayer& layer) {
        const std::string target = paths::layer(layer.diff_id, owner_folder_);
        const bool taken = std::find(targets_.begin(), targets_.end(), target) != targets_.end();
        const bool has_tree = taken || base::exists_at(store_.dir().get(), target);
        const bool has_blob = store_.has(layer.descriptor.digest, layer.descriptor.size);
        if (has_tree && (has_blob || !layer.open)) return {};

        const std::string folder = std::to_string(targets_.size());
        TRY_OK(base::make_dir_at(scratch_.dir().get(), folder, tree_mode));
        TRY_OK(base::make_dir_at(scratch_.dir().get(), folder + "/fs", tree_mode));
        TRY_OK(has_blob ? unpack_stored(layer, folder) : unpack_incoming(layer, folder));
        targets_.push_back(target);
        return {};
    }

    Result<> unpack_stored(const IncomingLayer& layer, const std::string& folder) {
        TRY(const base::UniqueFd blob, store_.open_blob(layer.descriptor.digest, layer.descriptor.size));
        layer::FileSource file(blob.get());
        TRY(auto source, layer::VerifyingSource::create(file, layer.descriptor.digest, layer.descriptor.size));
        TRY_OK(unpack(source, layer, folder));
        return std::move(source).finish();
    }

    Result<> unpack_incoming(const IncomingLayer& layer, const std::string& folder) {
        if (!layer.open) {
            return make_error(ErrorCode::corrupt, "its blob is not in the store",
                              "the store is damaged: import the image again");
        }
        TRY(const auto source, layer.open());
        TRY(content::BlobWriter writer, store_.new_blob(layer.descriptor.digest.algorithm()));
        TeeSource tee(*source, writer, layer.descriptor.size);
        TRY_OK(unpack(tee, layer, folder));
        TRY_OK(std::move(writer).commit_as(layer.descriptor.digest, layer.descriptor.size));
        return {};
    }

    Result<> unpack(layer::ByteSource& blob, const IncomingLayer& layer, const std::string& folder) {
        TRY(const base::UniqueFd root, base::open_dir_at(scratch_.dir().get(), folder + "/fs"));
        layer::TreeWriter tree(root.get(), owners_of(options_.ownership),
                               layer::overlay_whiteouts(opaque_mark_of(options_.ownership)));
        TRY_OK(layer::apply_layer(blob, layer.descriptor.size, layer.diff_id, tree, options_.limits));
        for (const std::string& text : tree.warnings()) {
            warnings_.push_back("layer " + layer.descriptor.digest.short_hex() + ": " + text);
        }
        return std::move(tree).finish();
    }

    Result<> publish_all() {
        if (targets_.empty()) return {};
        // Once for all layers: after a power cut a layer that can be seen must be whole.
        if (::syncfs(scratch_.dir().get()) != 0) return os_error("sync the unpacked layers", errno);
        for (std::size_t at = 0; at < targets_.size(); ++at) TRY_OK(publish(std::to_string(at), targets_[at]));
        return {};
    }

    // EEXIST and ENOTEMPTY: somebody else unpacked the same layer meanwhile, and theirs is as good.
    Result<> publish(const std::string& folder, const std::string& target) {
        const int store = store_.dir().get();
        TRY_OK(base::make_dir_at(store, target.substr(0, target.rfind('/')), 0700));
        if (::renameat(scratch_.dir().get(), folder.c_str(), store, target.c_str()) == 0) return {};
        if (errno == EEXIST || errno == ENOTEMPTY) return base::remove_tree_at(scratch_.dir().get(), folder);
        return os_error("rename to '" + target + "'", errno);
    }

    const content::Store& store_;
    const IntakeOptions& options_;
    const std::string owner_folder_;
    const content::Scratch& scratch_;
    std::vector<std::string>& warnings_;
    std::vector<std::string> targets_;  // of the trees in the folders 0, 1, ... of the scratch folder
};

}  // namespace

Result<> Intake::take(std::vector<IncomingLayer> layers) {
    TRY(const content::Scratch scratch, store_.new_scratch());
    const auto act = [&]() -> Result<> {
        // What a killed namesake left can only be removed with its ids, and this is the place that has them.
        if (options_.ownership == plan::Ownership::subids) content::sweep_scratch(store_.dir());
        return Taking(store_, options_, scratch, warnings_).run(layers);
    };
    const auto taken = options_.in_userns ? act() : run_as(options_.ownership, options_.maps, act);
    return Result<>(taken).at(Stage::unpack);
}

}  // namespace coracle::snapshot

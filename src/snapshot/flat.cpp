// Implements the flat tree on top of Snapshots::flatten.
#include "snapshot/flat.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "snapshot/ownership.hpp"
#include "snapshot/snapshots.hpp"

namespace coracle::snapshot {

namespace {

namespace paths = content::paths;

Result<> make_flat(const content::Store& store, const image::Image& image, const oci::Digest& chain,
                   plan::Ownership ownership, const base::IdMaps& maps, const layer::Limits& limits) {
    TRY(const content::Scratch scratch, store.new_scratch());
    // Made by the caller, not in the user namespace: only the owner of a folder can rename it later.
    TRY_OK(base::make_dir_at(scratch.dir().get(), "tree"));
    const auto place = store.root() / paths::scratch(scratch.name()) / "tree" / "fs";
    TRY_OK(Snapshots(store, limits).flatten(image, ownership, maps, place));
    // After a power cut a tree that can be seen must be whole.
    if (::syncfs(scratch.dir().get()) != 0) return os_error("sync the flat tree", errno);
    const int root = store.dir().get();
    TRY_OK(base::make_dir_at(root, paths::flat, 0700));
    TRY_OK(base::make_dir_at(root, paths::flat_group(chain), 0700));
    const std::string target = paths::flat_tree(chain, folder_of(ownership, maps));
    if (::renameat(scratch.dir().get(), "tree", root, target.c_str()) == 0) return {};
    if (errno == EEXIST || errno == ENOTEMPTY) return {};  // somebody else's is as good
    return os_error("rename to '" + target + "'", errno);
}

}  // namespace

Result<std::filesystem::path> flat_tree(const content::Store& store, const image::Image& image,
                                        plan::Ownership ownership, const base::IdMaps& maps,
                                        const layer::Limits& limits) {
    TRY(const oci::Digest chain, image::chain_id(image.config));
    const std::string target = paths::flat_tree(chain, folder_of(ownership, maps));
    if (!base::exists_at(store.dir().get(), target)) {
        TRY_OK(make_flat(store, image, chain, ownership, maps, limits));
    }
    return store.root() / target / "fs";
}

}  // namespace coracle::snapshot

// Implements the inventory.
#include "housekeeping/inventory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "base/tree_size.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "image/image.hpp"
#include "oci/reference.hpp"
#include "snapshot/layer_trees.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::housekeeping {

namespace {

namespace paths = content::paths;

Result<std::vector<std::string>> names_in(const content::Store& store, const std::string& folder) {
    auto dir = base::open_dir_at(store.dir().get(), folder);
    if (!dir && dir.error().os_errno == ENOENT) return std::vector<std::string>();
    if (!dir) return std::move(dir).error();
    return base::list_dir(dir->get());
}

Result<> add_blobs(const content::Store& store, const std::string& algorithm, std::vector<Item>& items) {
    TRY(const auto names, names_in(store, paths::blob_folder(algorithm)));
    for (const std::string& name : names) {
        const auto digest = oci::Digest::parse(algorithm + ":" + name);
        if (!digest) continue;
        const std::string path = paths::blob(digest.value());
        struct stat status {};
        if (::fstatat(store.dir().get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        items.push_back({Kind::blob, path, static_cast<std::uint64_t>(status.st_size)});
    }
    return {};
}

bool is_hex_name(const std::string& name) {
    return oci::Digest::parse("sha256:" + name).has_value() || oci::Digest::parse("sha512:" + name).has_value();
}

Result<> add_trees(const content::Store& store, Kind kind, const std::string& folder, std::vector<Item>& items) {
    TRY(const auto names, names_in(store, folder));
    for (const std::string& name : names) {
        if (is_hex_name(name)) items.push_back({kind, folder + "/" + name});
    }
    return {};
}

Result<std::set<std::string>> needs_of(const content::Store& store, const oci::Descriptor& manifest) {
    TRY(const image::Image image, image::load(store, manifest));
    TRY(const oci::Digest chain, image::chain_id(image.config));
    std::set<std::string> needs{paths::blob(image.config_digest), paths::flat_group(chain)};
    for (const oci::Descriptor& layer : image.layers) needs.insert(paths::blob(layer.digest));
    for (const oci::DiffId& diff_id : image.config.diff_ids) needs.insert(paths::layer_group(diff_id));
    for (const oci::DiffId& id : snapshot::LayerTrees::chained(image.config.diff_ids)) {
        needs.insert(paths::layer_group(id));
    }
    return needs;
}

}  // namespace

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::blob: return "blob";
        case Kind::layer: return "layer";
        case Kind::flat: break;
    }
    return "flat";
}

std::string name_of(const oci::Descriptor& entry) {
    if (entry.ref_name.empty()) return entry.digest.str();
    const auto reference = oci::parse_reference(entry.ref_name);
    return reference ? reference.value().familiar() : entry.ref_name;
}

bool is_needed(const std::vector<Holder>& holders, const std::string& path) {
    return std::any_of(holders.begin(), holders.end(),
                       [&](const Holder& holder) { return holder.needs.contains(path); });
}

Result<std::vector<Item>> take_inventory(const content::Store& store) {
    std::vector<Item> items;
    for (const char* algorithm : {"sha256", "sha512"}) TRY_OK(add_blobs(store, algorithm, items));
    TRY_OK(add_trees(store, Kind::layer, paths::layers, items));
    TRY_OK(add_trees(store, Kind::flat, paths::flat, items));
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.path < b.path; });
    return items;
}

Result<> measure(const content::Store& store, const Owner& owner, std::vector<Item>& items) {
    const auto measure_all = [&]() -> Result<std::string> {
        std::string figures;
        for (const Item& item : items) {
            const std::uint64_t bytes =
                item.kind == Kind::blob ? item.bytes : base::tree_size_at(store.dir().get(), item.path);
            figures.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
        }
        return figures;
    };
    TRY(const std::string figures, snapshot::run_as(owner.ownership, owner.maps, measure_all));
    if (figures.size() != items.size() * sizeof(std::uint64_t)) {
        return make_error(ErrorCode::internal, "measure the store: the figures are too few");
    }
    for (std::size_t at = 0; at < items.size(); ++at) {
        std::memcpy(&items[at].bytes, figures.data() + at * sizeof(std::uint64_t), sizeof(std::uint64_t));
    }
    return {};
}

Result<Holder> holder_of(const content::Store& store, const oci::Descriptor& manifest) {
    Holder holder{.manifest = manifest, .names = {}, .needs = {}, .last_used = 0, .leased = false, .damage = {}};
    auto needs = needs_of(store, manifest);
    if (needs) {
        holder.needs = std::move(needs).value();
    } else if (needs.error().code == ErrorCode::corrupt || needs.error().code == ErrorCode::not_found ||
               needs.error().code == ErrorCode::unsupported) {
        holder.damage = needs.error().message;
    } else {
        return std::move(needs).error();  // it may be whole: nothing may be removed on this knowledge
    }
    const std::string path = paths::blob(manifest.digest);
    holder.needs.insert(path);
    struct stat status {};
    if (::fstatat(store.dir().get(), path.c_str(), &status, 0) == 0) holder.last_used = status.st_mtim.tv_sec;
    return holder;
}

Result<std::vector<Holder>> named_holders(const content::Store& store) {
    TRY(const auto entries, store.tags());
    std::vector<Holder> holders;
    for (const oci::Descriptor& entry : entries) {
        auto known = std::find_if(holders.begin(), holders.end(), [&](const Holder& holder) {
            return holder.manifest.digest == entry.digest && holder.manifest.size == entry.size;
        });
        if (known == holders.end()) {
            TRY(Holder holder, holder_of(store, entry));
            TRY(holder.leased, is_leased(store, entry.digest));
            holders.push_back(std::move(holder));
            known = std::prev(holders.end());
        }
        known->names.push_back(entry);
    }
    return holders;
}

Result<bool> is_leased(const content::Store& store, const oci::Digest& manifest) {
    TRY(const auto alone, content::Lease::take_alone(store.dir(), manifest));
    return !alone && base::exists_at(store.dir().get(), paths::blob(manifest));
}

}  // namespace coracle::housekeeping

// Implements the sizes on disk by image.
#include <algorithm>

#include "base/try.hpp"
#include "housekeeping/collect.hpp"

namespace coracle::housekeeping {

Result<DiskUsage> disk_usage(const content::Store& store, const Owner& owner) {
    TRY(auto items, take_inventory(store));
    TRY_OK(measure(store, owner, items));
    TRY(const auto holders, named_holders(store));
    DiskUsage usage;
    for (const Item& item : items) {
        ContentUsage& part = item.kind == Kind::blob    ? usage.blobs
                             : item.kind == Kind::layer ? usage.layers
                                                        : usage.flat;
        part.count += 1;
        part.size += item.bytes;
        if (!is_needed(holders, item.path)) part.unneeded += item.bytes;
        usage.total += item.bytes;
    }
    for (const Holder& holder : holders) {
        ImageUsage image{.names = {}, .manifest_digest = holder.manifest.digest.str(), .own = 0, .shared = 0};
        for (const oci::Descriptor& entry : holder.names) image.names.push_back(name_of(entry));
        for (const Item& item : items) {
            if (!holder.needs.contains(item.path)) continue;
            const auto users = std::count_if(holders.begin(), holders.end(),
                                             [&](const Holder& other) { return other.needs.contains(item.path); });
            (users > 1 ? image.shared : image.own) += item.bytes;
        }
        usage.images.push_back(std::move(image));
    }
    return usage;
}

}  // namespace coracle::housekeeping

// What the store holds, which images need what of it, and how much room it takes.
#pragma once

#include <cstdint>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "base/userns.hpp"
#include "content/store.hpp"
#include "plan/plan.hpp"

namespace coracle::housekeeping {

// Whose trees are measured and removed: those of subordinate ids only inside their user namespace.
struct Owner {
    plan::Ownership ownership = plan::Ownership::root;
    base::IdMaps maps;
};

enum class Kind { blob, layer, flat };
std::string_view to_string(Kind kind);

// A blob, or a folder of unpacked trees with all its ownerships.
struct Item {
    Kind kind = Kind::blob;
    std::string path;  // below STORE
    std::uint64_t bytes = 0;
};

// All items, by path. Foreign files in their folders are passed over. The sizes of trees are 0 until measure().
Result<std::vector<Item>> take_inventory(const content::Store& store);
Result<> measure(const content::Store& store, const Owner& owner, std::vector<Item>& items);

// An entry of index.json as people write its name; its digest where it has none.
std::string name_of(const oci::Descriptor& entry);

// One manifest that keeps items.
struct Holder {
    oci::Descriptor manifest;
    std::vector<oci::Descriptor> names;  // its entries in index.json; none: only a lease keeps it
    std::set<std::string> needs;         // paths of items
    std::time_t last_used = 0;
    bool leased = false;
    std::string damage;  // why it cannot be read; then it needs itself only
};

// The manifests that have names.
Result<std::vector<Holder>> named_holders(const content::Store& store);
Result<Holder> holder_of(const content::Store& store, const oci::Descriptor& manifest);
bool is_needed(const std::vector<Holder>& holders, const std::string& path);
// Some lease on the manifest is alive.
Result<bool> is_leased(const content::Store& store, const oci::Digest& manifest);

}  // namespace coracle::housekeeping

// Implements the scratch on disk.
#include "engine/disk_scratch.hpp"

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::engine {

Result<DiskScratch> DiskScratch::create(const content::Store& store, const plan::ExecutionPlan& plan) {
    if (!plan.rootfs.scratch_on_disk) return DiskScratch({}, std::nullopt, plan);
    TRY(content::Scratch folder, store.new_scratch());
    return DiskScratch(store.root(), std::move(folder), plan);
}

DiskScratch::~DiskScratch() {
    // Files of subordinate ids, and of modes that lock their owner out, need the user namespace.
    if (!folder_) return;
    (void)snapshot::run_unlocked(ownership_, maps_, [this]() -> Result<std::string> {
        for (const char* name : {"workspace", "upper"}) {
            TRY_OK(base::remove_tree_at(folder_->dir().get(), name));
        }
        return std::string();
    });
}

std::string DiskScratch::path() const {
    return folder_ ? (store_ / content::paths::scratch(folder_->name())).string() : std::string();
}

}  // namespace coracle::engine

// Implements the removal folder.
#include "housekeeping/trash.hpp"

#include <cerrno>
#include <cstdio>

#include "base/files.hpp"
#include "base/try.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::housekeeping {

Result<Trash> Trash::create(const content::Store& store) {
    TRY(content::Scratch scratch, store.new_scratch());
    return Trash(store, std::move(scratch));
}

Result<> Trash::take(const std::string& path) {
    const std::string name = std::to_string(taken_++);
    if (::renameat(store_->dir().get(), path.c_str(), scratch_.dir().get(), name.c_str()) == 0) return {};
    if (errno == ENOENT) return {};
    return os_error("remove '" + path + "'", errno);
}

Result<> Trash::empty(const Owner& owner) const {
    const auto remove_all = [&]() -> Result<std::string> {
        // What a killed namesake left of subordinate ids can only be removed with them.
        if (owner.ownership == plan::Ownership::subids) content::sweep_scratch(store_->dir());
        Result<> all;
        for (int number = 0; number < taken_; ++number) {
            auto gone = base::remove_tree_at(scratch_.dir().get(), std::to_string(number));
            if (!gone) all = std::move(gone);
        }
        if (!all) return std::move(all).error();
        return std::string();
    };
    TRY_OK(snapshot::run_as(owner.ownership, owner.maps, remove_all));
    return {};
}

}  // namespace coracle::housekeeping

// Implements the table of ownerships.
#include "snapshot/ownership.hpp"

namespace coracle::snapshot {

namespace {

// Where the ids above 0 begin on the host: the caller's subordinate range.
std::string first_subordinate(const std::vector<base::IdRange>& ranges) {
    for (const base::IdRange& range : ranges) {
        if (range.inside <= 1 && range.inside + range.count > 1)
            return std::to_string(range.outside + 1 - range.inside);
    }
    return "none";
}

}  // namespace

std::string folder_of(plan::Ownership ownership, const base::IdMaps& maps) {
    switch (ownership) {
        case plan::Ownership::root: return "root";
        case plan::Ownership::single: return "single";
        case plan::Ownership::subids: break;
    }
    return "subids-" + first_subordinate(maps.uids) + "-" + first_subordinate(maps.gids);
}

layer::Owners owners_of(plan::Ownership ownership) {
    switch (ownership) {
        case plan::Ownership::root: return layer::Owners::exact;
        case plan::Ownership::single: return layer::Owners::caller;
        case plan::Ownership::subids: break;
    }
    return layer::Owners::mapped;
}

layer::OpaqueMark opaque_mark_of(plan::Ownership ownership) {
    return ownership == plan::Ownership::root ? layer::OpaqueMark::trusted : layer::OpaqueMark::user;
}

Result<std::string> run_as(plan::Ownership ownership, const base::IdMaps& maps,
                           const std::function<Result<std::string>()>& act) {
    return ownership == plan::Ownership::subids ? base::run_in_userns(maps, act) : act();
}

Result<std::string> run_unlocked(plan::Ownership ownership, const base::IdMaps& maps,
                                 const std::function<Result<std::string>()>& act) {
    if (ownership != plan::Ownership::single) return run_as(ownership, maps, act);
    // Hosts forbid these namespaces at several steps, with an errno of its own each (user_namespaces(7), AppArmor).
    auto done = base::run_in_userns(maps, act);
    return done ? std::move(done) : act();
}

}  // namespace coracle::snapshot

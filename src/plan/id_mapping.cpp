// Decides where the sandbox's ids come from.
#include "plan/make_plan.hpp"

namespace coracle::plan {

namespace {

// Container 0 is the caller; its subordinate ranges follow from 1 on.
std::vector<base::IdRange> ranges(std::uint32_t caller, const std::vector<host::SubRange>& subordinate) {
    std::vector<base::IdRange> result{{.inside = 0, .outside = caller, .count = 1}};
    std::uint32_t next = 1;
    for (const host::SubRange& range : subordinate) {
        result.push_back({.inside = next, .outside = range.start, .count = range.count});
        next += range.count;
    }
    return result;
}

}  // namespace

IdMapping choose_id_mapping(const host::HostFacts& host) {
    if (host.privileged) return IdMapping::none;
    // Without user namespaces nothing can be mapped; images can still be kept, as files of the caller's.
    const bool subordinate = host.user_namespaces && !host.subuids.empty() && !host.subgids.empty() && host.newuidmap;
    return subordinate ? IdMapping::subids : IdMapping::single;
}

base::IdMaps make_id_maps(const host::HostFacts& host, IdMapping mapping) {
    if (mapping == IdMapping::none) return {};
    if (mapping == IdMapping::single) return {.uids = ranges(host.uid, {}), .gids = ranges(host.gid, {})};
    return {.uids = ranges(host.uid, host.subuids), .gids = ranges(host.gid, host.subgids)};
}

Ownership ownership_of(IdMapping mapping) {
    switch (mapping) {
        case IdMapping::none: return Ownership::root;
        case IdMapping::single: return Ownership::single;
        case IdMapping::subids: return Ownership::subids;
    }
    return Ownership::single;
}

}  // namespace coracle::plan

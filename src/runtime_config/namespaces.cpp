// Writes `linux.namespaces` and the id maps.
#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

// Where nobody has mapped ids, the run is root's and all ids of the 16-bit range are its own.
constexpr base::IdRange every_id{.inside = 0, .outside = 0, .count = 65536};

std::vector<base::IdRange> to_themselves(std::vector<base::IdRange> ranges) {
    if (ranges.empty()) return {every_id};
    for (base::IdRange& range : ranges) range.outside = range.inside;
    return ranges;
}

}  // namespace

Json namespaces_part(const plan::Namespaces& namespaces, bool user_namespace) {
    Json part = Json::array();
    const auto add = [&part](const char* type) { part.push_back({{"type", type}}); };
    for (const char* always : {"pid", "mount", "ipc", "uts"}) add(always);
    if (namespaces.network) add("network");
    if (namespaces.cgroup) add("cgroup");
    if (user_namespace) add("user");
    return part;
}

Json mappings_part(const std::vector<base::IdRange>& ranges) {
    Json part = Json::array();
    for (const base::IdRange& range : ranges) {
        part.push_back({{"containerID", range.inside}, {"hostID", range.outside}, {"size", range.count}});
    }
    return part;
}

base::IdMaps nested_maps(const base::IdMaps& outer) {
    return {.uids = to_themselves(outer.uids), .gids = to_themselves(outer.gids)};
}

}  // namespace coracle::runtime_config

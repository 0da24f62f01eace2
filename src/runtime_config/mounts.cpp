// Writes `mounts`, in the plan's order: a later one may lie on an earlier one.
#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

Json mounts_part(const std::vector<plan::Mount>& mounts, const std::string& scratch_path) {
    Json part = Json::array();
    for (const plan::Mount& mount : mounts) {
        Json entry = {{"destination", mount.destination}, {"type", mount.type}, {"source", mount.source}};
        if (mount.on_scratch) entry["source"] = scratch_path + "/workspace";
        if (!mount.options.empty()) entry["options"] = mount.options;
        part.push_back(std::move(entry));
    }
    return part;
}

}  // namespace coracle::runtime_config

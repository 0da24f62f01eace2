// Implements the plan as JSON.
#include "engine/explain.hpp"

#include <nlohmann/json.hpp>

namespace coracle::engine {

namespace {

using Json = nlohmann::ordered_json;

const char* word(plan::IdMapping mapping) {
    switch (mapping) {
        case plan::IdMapping::none: return "none";
        case plan::IdMapping::single: return "single";
        case plan::IdMapping::subids: return "subids";
    }
    return "none";
}

const char* word(plan::CgroupMode mode) {
    switch (mode) {
        case plan::CgroupMode::v2: return "cgroup2";
        case plan::CgroupMode::v1: return "cgroup1";
        case plan::CgroupMode::none: return "none";
    }
    return "none";
}

Json process(const plan::Process& process) {
    Json rlimits = Json::object();
    for (const plan::Rlimit& limit : process.rlimits)
        rlimits[limit.type] = {{"soft", limit.soft}, {"hard", limit.hard}};
    return {{"args", process.args},
            {"cwd", process.cwd},
            {"env", process.env},
            {"user",
             {{"uid", process.user.uid}, {"gid", process.user.gid}, {"additional_gids", process.user.additional_gids}}},
            {"capabilities", process.capabilities},
            {"seccomp", process.seccomp},
            {"rlimits", std::move(rlimits)}};
}

Json id_ranges(const std::vector<base::IdRange>& ranges) {
    Json rows = Json::array();
    for (const base::IdRange& range : ranges) {
        rows.push_back({{"inside", range.inside}, {"outside", range.outside}, {"count", range.count}});
    }
    return rows;
}

Json rootfs(const plan::Rootfs& rootfs, const std::vector<std::filesystem::path>& layers) {
    Json generated = Json::array();
    for (const plan::GeneratedFile& file : rootfs.generated) generated.push_back("/" + file.path);
    Json links = Json::object();
    for (const plan::GeneratedLink& link : rootfs.links) links["/" + link.path] = link.target;
    Json paths = Json::array();
    for (const auto& layer : layers) paths.push_back(layer.string());
    return {{"kind", rootfs.kind == plan::RootfsKind::overlay ? "overlay" : "flat"},
            {"read_only", rootfs.read_only},
            {"layers", std::move(paths)},
            {"generated", std::move(generated)},
            {"links", std::move(links)}};
}

Json mounts(const std::vector<plan::Mount>& mounts) {
    Json rows = Json::array();
    for (const plan::Mount& mount : mounts) {
        rows.push_back({{"destination", mount.destination},
                        {"type", mount.type},
                        {"source", mount.source},
                        {"options", mount.options}});
    }
    return rows;
}

Json cgroup(const plan::Cgroup& cgroup) {
    Json parents = Json::array();
    for (const auto& parent : cgroup.parents) parents.push_back(parent.path.string());
    Json json{
        {"mode", word(cgroup.mode)}, {"runtime_managed", cgroup.runtime_managed}, {"parents", std::move(parents)}};
    json["scope"] = !cgroup.scope_bus.empty();
    json["memory"] = cgroup.memory ? Json(cgroup.memory->count) : Json();
    json["cpus"] = cgroup.cpus ? Json(to_string(*cgroup.cpus)) : Json();
    json["pids"] = cgroup.pids ? Json(*cgroup.pids) : Json();
    return json;
}

Json limits(const Limits& limits) {
    Json json{{"memory", to_string(limits.memory)},       {"memory_swap", to_string(limits.memory_swap)},
              {"storage", to_string(limits.storage)},     {"shm", to_string(limits.shm)},
              {"cpus", to_string(limits.cpus)},           {"pids", limits.pids},
              {"wall_time", to_string(limits.wall_time)}, {"grace", to_string(limits.grace)},
              {"output", to_string(limits.output)},       {"open_files", limits.open_files}};
    json["cpu_time"] = limits.cpu_time ? Json(to_string(*limits.cpu_time)) : Json();
    json["idle_time"] = limits.idle_time ? Json(to_string(*limits.idle_time)) : Json();
    json["stack"] = limits.stack ? Json(to_string(*limits.stack)) : Json();
    json["file_size"] = limits.file_size ? Json(to_string(*limits.file_size)) : Json();
    return json;
}

Json clamped(const std::vector<Clamped>& all) {
    Json rows = Json::array();
    for (const Clamped& one : all) {
        rows.push_back(
            {{"limit", one.limit}, {"wanted", one.wanted}, {"granted", one.granted}, {"ceiling", one.ceiling}});
    }
    return rows;
}

Json degraded(const std::vector<Degraded>& all) {
    Json rows = Json::array();
    for (const Degraded& one : all) {
        rows.push_back(
            {{"limit", one.limit}, {"wanted", one.wanted}, {"mechanism", one.mechanism}, {"reason", one.reason}});
    }
    return rows;
}

}  // namespace

std::string explain_plan(const Prepared& prepared, const std::map<std::string, std::string>& limit_sources) {
    const plan::ExecutionPlan& plan = prepared.plan;
    const Json json{{"image",
                     {{"ref", prepared.image_ref},
                      {"manifest_digest", prepared.image ? Json(prepared.image->manifest_digest.str()) : Json()},
                      {"config_digest", prepared.image ? Json(prepared.image->config_digest.str()) : Json()}}},
                    {"process", process(plan.process)},
                    {"ids",
                     {{"mapping", word(plan.id_mapping)},
                      {"uids", id_ranges(plan.id_maps.uids)},
                      {"gids", id_ranges(plan.id_maps.gids)}}},
                    {"namespaces",
                     {{"network", plan.namespaces.network},
                      {"cgroup", plan.namespaces.cgroup},
                      {"nested_user", plan.namespaces.nested_user}}},
                    {"hostname", plan.hostname},
                    {"rootfs", rootfs(plan.rootfs, prepared.layers)},
                    {"mounts", mounts(plan.mounts)},
                    {"masked_paths", plan.masked_paths},
                    {"readonly_paths", plan.readonly_paths},
                    {"limits", limits(plan.limits)},
                    {"limit_sources", limit_sources},
                    {"clamped", clamped(prepared.settled.clamped)},
                    {"cgroup", cgroup(plan.cgroup)},
                    {"degraded", degraded(plan.degraded)},
                    {"runtime",
                     {{"name", plan::name_of(plan.runtime)},
                      {"path", plan.runtime.path.string()},
                      {"version", plan.runtime.version}}},
                    {"warnings", plan.warnings}};
    // Names of a hostile image may be no UTF-8; the text for readers shows a replacement character.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coracle::engine

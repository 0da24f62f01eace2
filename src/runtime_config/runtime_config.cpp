// Puts the parts of a config.json together, in the portable and in the fast form.
#include "runtime_config/runtime_config.hpp"

#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

// The version whose features are used; runc 1.1 and crun 1.8 both write it themselves.
constexpr const char* oci_version = "1.0.2";

// What the two forms say differently about `linux`.
struct LinuxForm {
    std::optional<base::IdMaps> user_namespace;
    Json resources;            // null: none
    std::string cgroups_path;  // empty: the runtime's own choice
    Json seccomp;              // null: none
};

Json linux_part(const plan::ExecutionPlan& plan, LinuxForm form) {
    Json part = {{"namespaces", namespaces_part(plan.namespaces, form.user_namespace.has_value())}};
    if (form.user_namespace) {
        part["uidMappings"] = mappings_part(form.user_namespace->uids);
        part["gidMappings"] = mappings_part(form.user_namespace->gids);
    }
    if (!form.cgroups_path.empty()) part["cgroupsPath"] = form.cgroups_path;
    if (!form.resources.is_null()) part["resources"] = std::move(form.resources);
    part["maskedPaths"] = plan.masked_paths;
    part["readonlyPaths"] = plan.readonly_paths;
    if (!form.seccomp.is_null()) part["seccomp"] = std::move(form.seccomp);
    return part;
}

// Where the parts of the sandbox lie on the host.
struct Places {
    std::string root;
    std::string scratch;
};

Json config(const plan::ExecutionPlan& plan, const plan::Process& process, const Program& program, const Places& places,
            LinuxForm form) {
    return {{"ociVersion", oci_version},
            {"process", process_part(process, program)},
            {"root", {{"path", places.root}, {"readonly", plan.rootfs.read_only}}},
            {"hostname", plan.hostname},
            {"mounts", mounts_part(plan.mounts, places.scratch)},
            {"linux", linux_part(plan, std::move(form))}};
}

std::string compact_text(const Json& value) { return value.dump(); }

// dump() throws where a text is not UTF-8, and nowhere else.
Result<std::string> printed(std::string (*print)(const Json&), const Json& config) {
    try {
        return print(config);
    } catch (const Json::exception&) {
        return make_error(ErrorCode::invalid_request, "config.json: an argument, variable or path is not UTF-8",
                          "an OCI bundle can carry UTF-8 text only: rename it, or hand the bytes over in a file");
    }
}

// Nobody stands between the portable bundle and the host: its user namespace maps to the host's ids.
std::optional<base::IdMaps> portable_maps(const plan::ExecutionPlan& plan) {
    if (plan.id_mapping != plan::IdMapping::none) return plan.id_maps;
    if (plan.namespaces.nested_user) return nested_maps(plan.id_maps);
    return std::nullopt;
}

}  // namespace

Result<std::string> portable_config(const plan::ExecutionPlan& plan, const policy::SeccompProfile& seccomp) {
    const Program program{plan.process.args, plan.process.env, plan.process.cwd};
    LinuxForm form{.user_namespace = portable_maps(plan),
                   .resources = resources_part(plan),
                   .cgroups_path = {},
                   .seccomp = seccomp.confines() ? seccomp_part(seccomp) : Json()};
    return printed(pretty_text,
                   config(plan, plan.process, program, {.root = "rootfs", .scratch = {}}, std::move(form)));
}

Result<std::string> fast_config(const plan::ExecutionPlan& plan, const FastForm& form) {
    const Program init{form.init_args, {}, "/"};
    LinuxForm part{.user_namespace = {}, .resources = {}, .cgroups_path = form.cgroups_path, .seccomp = {}};
    if (plan.namespaces.nested_user) part.user_namespace = nested_maps(plan.id_maps);
    // Processor time is the program's: init, which began as the runtime, would start with the runtime's on its account.
    plan::Process process = plan.process;
    std::erase_if(process.rlimits, [](const plan::Rlimit& limit) { return limit.type == plan::cpu_rlimit; });
    return printed(compact_text, config(plan, process, init, {.root = form.root_path, .scratch = form.scratch_path},
                                        std::move(part)));
}

}  // namespace coracle::runtime_config

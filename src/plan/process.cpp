// Decides user, arguments, environment and working directory as Docker combines image and request.
#include <algorithm>

#include "base/try.hpp"
#include "plan/concerns.hpp"
#include "policy/capabilities.hpp"

namespace coracle::plan {

namespace {

// How many ids the mapping has from 0 on.
std::uint64_t mapped_ids(const std::vector<base::IdRange>& ranges) {
    std::uint64_t count = 0;
    for (const base::IdRange& range : ranges) count += range.count;
    return count;
}

bool is_mapped(const Identity& user, const ExecutionPlan& plan) {
    if (plan.id_mapping == IdMapping::none) return true;
    return user.uid < mapped_ids(plan.id_maps.uids) && user.gid < mapped_ids(plan.id_maps.gids);
}

// Lines "NAME=value", a later one replaces an earlier one of the same name in its place.
class Environment {
public:
    void set(const std::string& line) {
        const std::string name = line.substr(0, line.find('=') + 1);
        for (std::string& known : lines_) {
            if (known.starts_with(name)) {
                known = line;
                return;
            }
        }
        lines_.push_back(line);
    }
    void set_default(const std::string& name, const std::string& value) {
        const std::string start = name + "=";
        const bool known =
            std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) { return line.starts_with(start); });
        if (!known) lines_.push_back(start + value);
    }
    std::vector<std::string> take() && { return std::move(lines_); }

private:
    std::vector<std::string> lines_;
};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::vector<std::string> script_args(const Request& request) {
    if (!request.command.empty()) return joined(request.command, {script_path});
    if (request.script->starts_with("#!")) return {script_path};
    return {"/bin/sh", script_path};
}

// Docker's rule: the caller's command replaces CMD, the caller's entrypoint replaces ENTRYPOINT and voids CMD.
Result<std::vector<std::string>> choose_args(const Request& request, const oci::ImageConfig& image) {
    if (request.script) return script_args(request);
    const auto& entrypoint = request.entrypoint ? *request.entrypoint : image.entrypoint;
    const bool image_cmd = request.command.empty() && !request.entrypoint;
    std::vector<std::string> args = joined(entrypoint, image_cmd ? image.cmd : request.command);
    if (args.empty() || args.front().empty()) {
        return make_error(ErrorCode::invalid_request, "nothing to run: no command given and the image names none",
                          "give a command after the image: coracle run IMAGE -- COMMAND");
    }
    const auto broken = [](const std::string& arg) { return arg.find('\0') != std::string::npos; };
    if (std::any_of(args.begin(), args.end(), broken)) {
        return make_error(ErrorCode::invalid_request, "an argument contains a NUL byte",
                          "pass binary data by stdin (-i)");
    }
    return args;
}

std::vector<std::string> choose_env(const PlanInput& input, const ResolvedUser& user) {
    Environment env;
    for (const std::string& line : input.image.config.env) {
        // No process can be given a NUL in its environment; what an image says behind one would be cut off unseen.
        if (line.find('=') != std::string::npos && line.find('\0') == std::string::npos) env.set(line);
    }
    for (const EnvVar& variable : input.request.env) env.set(variable.name + "=" + variable.value);
    env.set_default("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    // A home on the read-only root would break every cache and settings file that a tool writes there.
    env.set_default("HOME", input.request.writable_root.value_or(false) ? user.home.value_or("/") : workspace);
    env.set_default("HOSTNAME", "sandbox");
    return std::move(env).take();
}

// The image's WORKDIR as a path inside: it becomes a mount point, so "/../.." must not lead the keeper out of its
// stage.
std::string image_workdir(const oci::ImageConfig& image) {
    if (image.working_dir.empty()) return workspace;
    std::string path = std::filesystem::path("/" + image.working_dir).lexically_normal().string();
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

}  // namespace

Result<ResolvedUser> choose_user(const PlanInput& input, ExecutionPlan& plan) {
    const std::string spec = input.request.user.value_or(input.image.config.user);
    TRY(ResolvedUser user, resolve_user(spec, input.image.passwd, input.image.group));
    if (is_mapped(user.identity, plan)) {
        const auto unmapped = [&](gid_t gid) {
            return !is_mapped(Identity{.uid = 0, .gid = gid, .additional_gids = {}}, plan);
        };
        std::erase_if(user.identity.additional_gids, unmapped);
        return user;
    }
    const std::string who =
        "user '" + spec + "' (" + std::to_string(user.identity.uid) + ":" + std::to_string(user.identity.gid) + ")";
    const std::string fix = "give this account subordinate ids in /etc/subuid and /etc/subgid and install uidmap";
    if (input.request.user) {
        return make_error(ErrorCode::unsupported, who + " is not mapped: this account has no id for it", fix);
    }
    plan.warnings.push_back(who +
                            " of the image is not mapped for this account; the program runs as 0:0, which is the "
                            "caller outside; " +
                            fix);
    return resolve_user("0:0", input.image.passwd, input.image.group);
}

Result<> plan_process(const PlanInput& input, const ResolvedUser& user, ExecutionPlan& plan) {
    const Request& request = input.request;
    TRY(plan.process.args, choose_args(request, input.image.config));
    TRY(plan.process.capabilities, policy::combine_capabilities(request.cap_add, request.cap_drop));
    plan.process.env = choose_env(input, user);
    plan.process.user = user.identity;
    plan.process.seccomp = request.seccomp.value_or("default");
    plan.script = request.script;
    plan.process.cwd = request.workdir.value_or(image_workdir(input.image.config));
    return {};
}

}  // namespace coracle::plan

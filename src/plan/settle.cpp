// Implements the order of caller, configuration, built-in defaults and ceilings.
#include "plan/settle.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "plan/concerns.hpp"
#include "policy/capabilities.hpp"

namespace coracle::plan {

namespace {

std::string source_of(const policy::Config& config, const std::string& key) {
    const auto source = config.sources.find(key);
    return source == config.sources.end() ? "the configuration" : source->second;
}

Error denied(std::string message, std::string hint) {
    return make_error(ErrorCode::denied, std::move(message), std::move(hint)).at(Stage::plan);
}

class Settler {
public:
    Settler(const Request& asked, const policy::Config& config) : config_(config) { settled_.request = asked; }

    Result<Settled> settle() && {
        TRY_OK(choose_image());
        TRY_OK(check_request(settled_.request));
        TRY_OK(lay_under());
        TRY_OK(check_capabilities());
        TRY_OK(hold_below_ceilings());
        return std::move(settled_);
    }

private:
    Result<> choose_image() {
        if (!settled_.request.image.empty()) return {};
        if (!config_.default_image) {
            return make_error(ErrorCode::invalid_request, "no image is named, and no configuration names a default",
                              "name one of `coracle images` before the command, or set sandbox.default_image")
                .at(Stage::request);
        }
        settled_.request.image = *config_.default_image;
        return {};
    }

    // One key after the other, so that a value that cannot be is told with its file and line.
    Result<> lay_under() {
        Request& request = settled_.request;
        TRY_OK(lay("memory_limit", "memory", config_.memory, request.limits.memory));
        TRY_OK(lay("cpu_limit", "cpus", config_.cpus, request.limits.cpus));
        TRY_OK(lay("timeout", "wall_time", config_.wall_time, request.limits.wall_time));
        TRY_OK(lay("network_mode", "network", config_.network, request.network));
        TRY_OK(lay("seccomp", "seccomp", config_.seccomp, request.seccomp));
        TRY_OK(lay("runtime", "runtime", config_.runtime, request.runtime));
        if (!request.writable_root && config_.read_only_root) request.writable_root = !*config_.read_only_root;
        return {};
    }

    template <class T>
    Result<> lay(const char* key, const char* name, const std::optional<T>& configured, std::optional<T>& target) {
        if (target || !configured) return {};
        target = configured;
        settled_.basis.origins[name] = source_of(config_, key);
        return check_request(settled_.request).within(source_of(config_, key) + ": " + key);
    }

    Result<> check_capabilities() const {
        const auto& dropped = config_.drop_capabilities;
        for (const std::string& word : settled_.request.cap_add) {
            const auto name = policy::parse_capability(word);
            const bool drops = std::any_of(dropped.begin(), dropped.end(), [&](const std::string& cap) {
                return cap == "ALL" || (name && cap == name.value());
            });
            if (!drops) continue;
            return denied(
                "--cap-add " + word + ": dropped by drop_capabilities in " + source_of(config_, "drop_capabilities"),
                "leave the flag out, or change that line");
        }
        return {};
    }

    Result<> hold_below_ceilings() {
        const policy::Ceilings& most = config_.ceilings;
        LimitRequest& limits = settled_.request.limits;
        Limits& defaults = settled_.basis.defaults;
        TRY_OK(hold("memory", "max_memory", most.memory, limits.memory));
        TRY_OK(hold("cpus", "max_cpu", most.cpus, limits.cpus));
        // Swap would be memory beyond the ceiling by another name.
        TRY_OK(hold("memory_swap", "max_memory", most.memory, limits.memory_swap));
        TRY_OK(hold("file_size", "max_storage", most.storage, limits.file_size));
        TRY_OK(hold("storage", "max_storage", most.storage, limits.storage));
        TRY_OK(hold("shm", "max_storage", most.storage, limits.shm));
        for (Tmpfs& tmpfs : settled_.request.tmpfs) {
            std::optional<Bytes> size = tmpfs.size;
            TRY_OK(hold("tmpfs " + tmpfs.guest, "max_storage", most.storage, size));
            tmpfs.size = *size;
        }
        if (most.memory) defaults.memory = std::min(defaults.memory, *most.memory);
        if (most.cpus) defaults.cpus = std::min(defaults.cpus, *most.cpus);
        settled_.basis.storage = most.storage;
        return {};
    }

    template <class T>
    Result<> hold(const std::string& limit, const char* key, const std::optional<T>& ceiling, std::optional<T>& value) {
        if (!ceiling || !value || *value <= *ceiling) return {};
        const std::string source = source_of(config_, key);
        if (config_.ceilings.above == policy::Ceilings::Above::refuse) {
            return denied(limit + " " + to_string(*value) + " is above the ceiling of " + to_string(*ceiling) + " (" +
                              key + " in " + source + ")",
                          "ask for at most " + to_string(*ceiling));
        }
        settled_.clamped.push_back(
            {.limit = limit, .wanted = to_string(*value), .granted = to_string(*ceiling), .ceiling = source});
        value = ceiling;
        return {};
    }

    const policy::Config& config_;
    Settled settled_;
};

}  // namespace

Result<Settled> settle(const Request& asked, const policy::Config& config) { return Settler(asked, config).settle(); }

std::map<std::string, std::string> limit_sources(const Request& asked, const Settled& settled) {
    std::map<std::string, std::string> sources = settled.basis.origins;
    const LimitRequest& limits = asked.limits;
    const auto add = [&](const char* name, const char* flag, bool by_caller) {
        sources.try_emplace(name, by_caller ? flag : "built-in");
    };
    add("memory", "--memory", limits.memory.has_value());
    add("cpus", "--cpus", limits.cpus.has_value());
    add("pids", "--pids", limits.pids.has_value());
    add("wall_time", "--timeout", limits.wall_time.has_value());
    add("grace", "--grace", limits.grace.has_value());
    add("output", "--output-limit", limits.output.has_value());
    for (const Clamped& clamped : settled.clamped) sources[clamped.limit] = "ceiling in " + clamped.ceiling;
    return sources;
}

}  // namespace coracle::plan

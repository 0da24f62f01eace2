// Implements the JSON form of records and errors.
#include "cli/record_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "base/base64.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

using Json = nlohmann::ordered_json;  // keys in the order in which a reader wants them

// Strings of strangers (messages, names, output) may be no UTF-8; the library then puts U+FFFD instead of throwing.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Rounded to nine decimals, which hides the binary tail (7.243246999999999) and no nanosecond. JSON has no infinities.
Json number(double value) { return std::isfinite(value) ? Json(std::round(value * 1e9) / 1e9) : Json(); }
Json number(std::uint64_t value) { return value; }
Json number(int value) { return value; }
Json number(bool value) { return value; }

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? number(*value) : Json();
}

Json or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json stream_json(const Stream& stream, OutputMode mode) {
    if (mode == OutputMode::passthrough) {
        return {{"text", nullptr},      {"base64", nullptr},     {"bytes_total", nullptr}, {"bytes_kept", nullptr},
                {"truncated", nullptr}, {"omitted_at", nullptr}, {"sha256", nullptr}};
    }
    const bool exact = is_utf8(stream.data);
    return {{"text", exact ? stream.data : lossy_utf8(stream.data)},
            {"base64", exact ? Json() : Json(base::base64(stream.data))},
            {"bytes_total", stream.bytes_total},
            {"bytes_kept", stream.data.size()},
            {"truncated", stream.truncated()},
            {"omitted_at", or_null(stream.omitted_at)},
            {"sha256", or_null(stream.sha256)}};
}

Json usage_json(const Usage& usage) {
    Json json{{"wall_s", number(usage.wall_s)}};
    Json sources{{"wall_s", "monotonic"}};
    const auto add = [&](const char* name, const auto& figure) {
        json[name] = or_null(figure.value);
        sources[name] = figure.value ? figure.source : "none";
    };
    add("cpu_s", usage.cpu_s);
    add("cpu_user_s", usage.cpu_user_s);
    add("cpu_system_s", usage.cpu_system_s);
    add("cpu_throttled_s", usage.cpu_throttled_s);
    add("memory_peak", usage.memory_peak);
    add("oom_kills", usage.oom_kills);
    add("pids_peak", usage.pids_peak);
    add("io_read", usage.io_read);
    add("io_write", usage.io_write);
    add("switches_voluntary", usage.switches_voluntary);
    add("switches_involuntary", usage.switches_involuntary);
    json["sources"] = std::move(sources);
    return json;
}

Json cost_json(const Cost& cost) {
    return {{"cpu_s", or_null(cost.cpu_s)},
            {"memory_gib_s", or_null(cost.memory_gib_s)},
            {"reserved_gib_s", or_null(cost.reserved_gib_s)},
            {"bytes_written", or_null(cost.bytes_written)}};
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
    Json json = Json::object();
    for (const auto& [name, value] : pairs) json[name] = value;
    return json;
}

Json limits_json(const LimitFacts& limits) {
    Json json{{"requested", pairs_json(limits.requested)},
              {"granted", pairs_json(limits.granted)},
              {"enforced", Json::array()},
              {"clamped", Json::array()},
              {"degraded", Json::array()}};
    for (const auto& [limit, value, source] : limits.enforced) {
        json["enforced"].push_back({{"limit", limit}, {"value", value}, {"source", source}});
    }
    for (const auto& [limit, wanted, granted, ceiling] : limits.clamped) {
        json["clamped"].push_back({{"limit", limit}, {"wanted", wanted}, {"granted", granted}, {"ceiling", ceiling}});
    }
    for (const auto& [limit, wanted, mechanism, reason] : limits.degraded) {
        json["degraded"].push_back(
            {{"limit", limit}, {"wanted", wanted}, {"mechanism", mechanism}, {"reason", reason}});
    }
    return json;
}

// All of it is read back in one act before the program starts: no_new_privileges tells whether that came to pass.
Json security_json(const SecurityFacts& facts) {
    const bool known = facts.no_new_privileges.has_value();
    return {{"capabilities", known ? Json(facts.capabilities) : Json()},
            {"no_new_privileges", or_null(facts.no_new_privileges)},
            {"seccomp", or_null(facts.seccomp)},
            {"seccomp_profile", or_null(facts.seccomp_profile)},
            {"namespaces", known ? Json(facts.namespaces) : Json()},
            {"read_only_root", known ? Json(facts.read_only_root) : Json()}};
}

Json timing_json(const Timing& timing) {
    return {
        {"resolve", or_null(timing.resolve)}, {"unpack", or_null(timing.unpack)}, {"rootfs", or_null(timing.rootfs)},
        {"config", or_null(timing.config)},   {"create", or_null(timing.create)}, {"start", or_null(timing.start)},
        {"run", or_null(timing.run)},         {"drain", or_null(timing.drain)},   {"collect", or_null(timing.collect)},
        {"delete", or_null(timing.remove)},   {"total", number(timing.total)}};
}

// What a caller reads first. Sentences quote strangers, and callers print them: no line breaks, no control characters.
Json verdict_json(const RunResult& result, const Json& out, const Json& err) {
    return {{"schema", result_schema},
            {"id", or_null(result.id)},
            {"reason", to_string(result.reason)},
            {"exit_code", or_null(result.exit_code)},
            {"signal", or_null(result.signal)},
            {"success", result.success()},
            {"duration", number(result.usage.wall_s)},
            {"timed_out", is_timeout(result.reason)},
            {"oom_killed", result.reason == Reason::oom},
            {"stuck", result.stuck},
            {"stdout", out.at("text")},
            {"stderr", err.at("text")},
            {"stage", or_null(result.stage)},
            {"message", or_null(printable(result.message))},
            {"hint", or_null(printable(result.hint))}};
}

}  // namespace

std::string record_json(const RunResult& result, OutputMode mode) {
    Json out = stream_json(result.out, mode);
    Json err = stream_json(result.err, mode);
    Json json = verdict_json(result, out, err);
    json["streams"] = {{"stdout", std::move(out)}, {"stderr", std::move(err)}};
    json["usage"] = usage_json(result.usage);
    json["cost"] = cost_json(result.cost);
    json["limits"] = limits_json(result.limits);
    json["security"] = security_json(result.security);
    // Nobody watches these two yet; an empty list would claim that nothing was denied.
    json["denied_syscalls"] = nullptr;
    json["network"] = nullptr;
    json["files"] = Json::array();  // no request can ask for files yet
    json["timing_ms"] = timing_json(result.timing_ms);
    json["image"] = {{"ref", or_null(result.image_ref)},
                     {"manifest_digest", or_null(result.manifest_digest)},
                     {"config_digest", or_null(result.config_digest)}};
    json["runtime"] = {{"name", or_null(result.runtime_name)}, {"version", or_null(result.runtime_version)}};
    json["host"] = {{"mode", or_null(result.host_mode)}, {"cgroup", or_null(result.host_cgroup)}};
    json["warnings"] = Json::array();
    for (const std::string& warning : result.warnings) json["warnings"].push_back(printable(warning));
    return dump(json);
}

std::string error_json(const Error& error) {
    const auto stage = error.stage ? to_string(*error.stage) : std::string_view();
    return dump({{"error",
                  {{"code", to_string(error.code)},
                   {"stage", or_null(stage)},
                   {"message", printable(error.message)},
                   {"hint", or_null(printable(error.hint))}}}});
}

RunResult failed_result(const Error& error) {
    RunResult result;
    result.reason = Reason::setup_failed;
    result.stage = to_string(error.stage.value_or(Stage::request));
    result.message = error.message;
    result.hint = error.hint;
    return result;
}

}  // namespace coracle::cli

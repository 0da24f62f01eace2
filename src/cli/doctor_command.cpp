// `coracle doctor`: what this host can do, what is lost on it, and the fix.
#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr CommandText text{
    "coracle doctor [OPTIONS]",
    "Say what this host can do for sandboxes, what is lost on it and the command that fixes it;\n"
    "run a sandbox of the host's own programs last. Exits with 125 where that fails.",
    "Example:\n  coracle doctor --json\n"};

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print JSON")};

const char* word(Health health) {
    switch (health) {
        case Health::good: return "good";
        case Health::weak: return "weak";
        case Health::bad: return "bad";
    }
    return "bad";
}

std::string probe_words(const RunResult& probe) {
    if (!probe.success()) return std::string(to_string(probe.reason)) + ": " + probe.message;
    std::string line = "a sandbox ran in " + std::to_string(static_cast<int>(probe.timing_ms.total)) + " ms";
    for (const Degraded& one : probe.limits.degraded) line += "; " + one.limit + " held by " + one.mechanism;
    return line;
}

std::string report_text(const DoctorReport& report) {
    std::string lines;
    const auto add = [&lines](const char* health, const std::string& subject, const std::string& detail) {
        lines += std::string(health) + "  " + subject + ": " + printable(detail) + "\n";
    };
    for (const Finding& finding : report.findings) {
        add(word(finding.health), finding.subject, finding.detail);
        if (!finding.lost.empty()) lines += "      lost: " + printable(finding.lost) + "\n";
        if (!finding.fix.empty()) lines += "      fix:  " + printable(finding.fix) + "\n";
    }
    add(report.usable() ? "good" : "bad ", "probe", probe_words(report.probe));
    if (!report.usable() && !report.probe.hint.empty()) lines += "      fix:  " + printable(report.probe.hint) + "\n";
    return lines;
}

Json or_null(const std::string& value) { return value.empty() ? Json() : Json(value); }

std::string report_json(const DoctorReport& report) {
    Json findings = Json::array();
    for (const Finding& finding : report.findings) {
        findings.push_back({{"subject", finding.subject},
                            {"health", word(finding.health)},
                            {"detail", finding.detail},
                            {"lost", or_null(finding.lost)},
                            {"fix", or_null(finding.fix)}});
    }
    Json degraded = Json::array();
    for (const Degraded& one : report.probe.limits.degraded) {
        degraded.push_back({{"limit", one.limit}, {"mechanism", one.mechanism}, {"reason", one.reason}});
    }
    const Json json{{"usable", report.usable()},
                    {"findings", std::move(findings)},
                    {"probe",
                     {{"reason", to_string(report.probe.reason)},
                      {"message", or_null(report.probe.message)},
                      {"hint", or_null(report.probe.hint)},
                      {"total_ms", report.probe.timing_ms.total},
                      {"cgroup", or_null(report.probe.host_cgroup)},
                      {"degraded", std::move(degraded)}}}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int doctor_command(Context& context, const Arguments& args) {
    bool usable = true;
    const auto execute = [&usable](Context& asked, const JsonDraft& draft,
                                   const Arguments& words) -> Result<std::string> {
        TRY_OK(refuse_words(words));
        TRY(const auto engine, asked.open_engine(asked.global.engine));
        const DoctorReport report = engine->doctor();
        usable = report.usable();
        return draft.json ? report_json(report) : report_text(report);
    };
    const int status = answer_with(context, args, text, rows, execute);
    return status == status_ok && !usable ? status_failed : status;
}

}  // namespace coracle::cli

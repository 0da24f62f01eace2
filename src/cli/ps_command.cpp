// `coracle ps`: the runs that are alive.
#include <ctime>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/runs_json.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle ps [OPTIONS]", "List the live runs of this user; as root, of everybody.",
                           "Example:\n  coracle ps --json\n"};

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print JSON")};

std::string joined(const std::vector<std::string>& words) {
    constexpr std::size_t most = 60;
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line.size() > most ? printable(line.substr(0, most)) + "..." : printable(line);
}

std::string runs_table(const std::vector<RunInfo>& runs) {
    std::vector<std::vector<std::string>> lines{{"RUN", "IMAGE", "UID", "PID", "AGE", "TIMEOUT", "COMMAND"}};
    const std::int64_t now = std::time(nullptr);
    for (const RunInfo& run : runs) {
        lines.push_back({printable(run.id), printable(run.image), std::to_string(run.uid), std::to_string(run.pid),
                         std::to_string(now - run.started) + "s", to_string(run.wall_time), joined(run.command)});
    }
    return table(lines);
}

Result<std::string> execute(Context& context, const JsonDraft& draft, const Arguments& words) {
    TRY_OK(refuse_words(words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto runs, engine->runs());
    return draft.json ? runs_json(runs) : runs_table(runs);
}

}  // namespace

int ps_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

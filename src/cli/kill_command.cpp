// `coracle kill`: a signal for live runs.
#include <csignal>
#include <optional>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/runs_json.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle kill [OPTIONS] RUN...",
                           "Send a signal to live runs, named by `coracle ps` or the beginning of such a name.\n"
                           "TERM, INT and HUP end a run as `cancelled` with its grace period, KILL at once; others\n"
                           "go to the program.",
                           "Examples:\n  coracle kill 2bb658568f36\n  coracle kill --signal USR1 2bb6\n"};

struct KillDraft {
    int signal_number = SIGTERM;
    bool json = false;
};

constexpr OptionRow<KillDraft> rows[]{
    {"-s,--signal", "SIGNAL", "Options", "Name or number (TERM)",
     [](KillDraft& draft, const std::string& value) -> Result<> {
         TRY(draft.signal_number, parse_signal(value));
         return {};
     }},
    json_row<KillDraft>("Print the runs as JSON"),
};

Result<std::string> execute(Context& context, const KillDraft& draft, const Arguments& words) {
    if (words.empty()) {
        return make_error(ErrorCode::invalid_request, "no run is named", "coracle ps lists those that are alive")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    std::vector<RunInfo> signaled;
    std::optional<Error> missed;  // the rest are signaled all the same
    for (const std::string& word : words) {
        auto run = engine->signal_run(word, draft.signal_number);
        if (run) {
            signaled.push_back(std::move(run).value());
        } else if (!missed) {
            missed = std::move(run).error();
        }
    }
    if (missed) return std::move(*missed);
    if (draft.json) return runs_json(signaled);
    std::string lines;
    for (const RunInfo& run : signaled) lines += printable(run.id) + "\n";
    return lines;
}

}  // namespace

int kill_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

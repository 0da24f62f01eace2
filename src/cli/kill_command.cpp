// `coracle kill`: a signal for live runs.
#include <csignal>

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
    {"--json", "", "Options", "Print the runs as JSON",
     [](KillDraft& draft, const std::string&) -> Result<> {
         draft.json = true;
         return {};
     }},
};

Result<std::string> execute(Context& context, const KillDraft& draft, const Arguments& words) {
    if (words.empty()) {
        return make_error(ErrorCode::invalid_request, "no run is named", "coracle ps lists those that are alive")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    std::vector<RunInfo> signaled;
    for (const std::string& word : words) {
        TRY(auto run, engine->signal_run(word, draft.signal_number));
        signaled.push_back(std::move(run));
    }
    if (draft.json) return runs_json(signaled);
    std::string lines;
    for (const RunInfo& run : signaled) lines += printable(run.id) + "\n";
    return lines;
}

}  // namespace

int kill_command(Context& context, const Arguments& args) {
    KillDraft draft;
    std::vector<BoundOption> options;
    bind_rows(options, rows, draft);
    const auto act = [&](const Arguments& words) { return execute(context, draft, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, draft.json, act});
}

}  // namespace coracle::cli

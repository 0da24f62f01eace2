// What every command is given, and the table of commands.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.hpp"
#include "cli/log.hpp"
#include "cli/options.hpp"

namespace coracle::cli {

inline constexpr int status_ok = 0;
inline constexpr int status_failed = 125;  // coracle failed, as docker run and timeout(1) say it

// The options that stand before the command; each command takes them too.
struct GlobalOptions {
    EngineOptions engine;
    LogLevel log_level = LogLevel::error;
};

struct Context {
    Streams streams;
    const EngineFactory& open_engine;
    GlobalOptions global;
};

using Arguments = std::vector<std::string>;

struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(Context& context, const Arguments& args);
};

int run_command(Context& context, const Arguments& args);
int import_command(Context& context, const Arguments& args);
int pull_command(Context& context, const Arguments& args);
int images_command(Context& context, const Arguments& args);
int doctor_command(Context& context, const Arguments& args);
int ps_command(Context& context, const Arguments& args);
int kill_command(Context& context, const Arguments& args);
int inspect_command(Context& context, const Arguments& args);
int tag_command(Context& context, const Arguments& args);
int rmi_command(Context& context, const Arguments& args);
int gc_command(Context& context, const Arguments& args);
int save_command(Context& context, const Arguments& args);
int du_command(Context& context, const Arguments& args);
int plan_command(Context& context, const Arguments& args);
int bundle_command(Context& context, const Arguments& args);
int login_command(Context& context, const Arguments& args);
int logout_command(Context& context, const Arguments& args);
int version_command(Context& context, const Arguments& args);
int completion_command(Context& context, const Arguments& args);

std::span<const Command> commands();

// The row of `--json`, for every draft that has a field `json`.
template <class Draft>
constexpr OptionRow<Draft> json_row(std::string_view help) {
    return {"--json", "", "Options", help, [](Draft& draft, const std::string&) -> Result<> {
                draft.json = true;
                return {};
            }};
}

// The whole of a command that answers with a text: reads the options, then prints the help, the answer or the error.
// `json` is the command's own flag, read after the options were.
struct Answer {
    const CommandText& text;
    OptionsEnd end;
    const bool& json;
    std::function<Result<std::string>(Arguments words)> act;
};
int answer(Context& context, std::vector<BoundOption> options, const Arguments& args, const Answer& answer);

// A draft of nothing but --json.
struct JsonDraft {
    bool json = false;
};

// The whole of a command whose options are `rows` over a draft that has a field `json`; `execute(context, draft,
// words)` is its one act.
template <class Draft, std::size_t count, class Execute>
int answer_with(Context& context, const Arguments& args, const CommandText& text, const OptionRow<Draft> (&rows)[count],
                Execute execute) {
    Draft draft;
    std::vector<BoundOption> options;
    bind_rows(options, rows, draft);
    const auto act = [&](const Arguments& words) { return execute(context, draft, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, draft.json, act});
}

void add_global_options(std::vector<BoundOption>& options, GlobalOptions& target);

// For commands that take options only.
Result<> refuse_words(const Arguments& words);

// On stdout; says on stderr what it could not write. Answers with the status to exit with.
int print(const Context& context, std::string_view text);
// "coracle: MESSAGE" and "hint: HINT" on stderr, or the error as JSON on stdout. Answers with status_failed.
enum class ErrorForm { text, json };
int fail(const Context& context, const Error& error, ErrorForm form = ErrorForm::text);
// The same two lines for what a record says.
void complain(const Context& context, std::string_view message, std::string_view hint);

}  // namespace coracle::cli

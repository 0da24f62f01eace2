// `coracle version`: which coracle this is and which records it writes.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "coracle/result.hpp"
#include "coracle/version.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle version [OPTIONS]", "Print the version.", "Example:\n  coracle version --json\n"};

constexpr OptionRow<JsonDraft> rows[]{
    json_row<JsonDraft>("Print JSON: the version, and the schema number of the records")};

Result<std::string> execute(Context&, const JsonDraft& draft, const Arguments& words) {
    TRY_OK(refuse_words(words));
    const std::string number(version);
    if (!draft.json) return "coracle " + number + "\n";
    return "{\"version\":\"" + number + "\",\"schema\":" + std::to_string(result_schema) + "}\n";
}

}  // namespace

int version_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

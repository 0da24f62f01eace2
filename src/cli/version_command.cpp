// `coracle version`: which coracle this is and which records it writes.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "coracle/result.hpp"
#include "coracle/version.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle version [OPTIONS]", "Print the version.", "Example:\n  coracle version --json\n"};

constexpr OptionRow<bool> rows[]{
    {"--json", "", "Options", "Print JSON: the version, and the schema number of the records",
     [](bool& json, const std::string&) -> Result<> {
         json = true;
         return {};
     }},
};

Result<std::string> execute(bool json, const Arguments& words) {
    TRY_OK(refuse_words(words));
    const std::string number(version);
    if (!json) return "coracle " + number + "\n";
    return "{\"version\":\"" + number + "\",\"schema\":" + std::to_string(result_schema) + "}\n";
}

}  // namespace

int version_command(Context& context, const Arguments& args) {
    bool json = false;
    std::vector<BoundOption> options;
    bind_rows(options, rows, json);
    const auto act = [&](const Arguments& words) { return execute(json, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, json, act});
}

}  // namespace coracle::cli

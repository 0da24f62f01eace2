// Finds the command that the arguments name and hands the rest to it.
#include "cli/cli.hpp"

#include <algorithm>
#include <array>

#include "base/did_you_mean.hpp"
#include "cli/command.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle [OPTIONS] COMMAND [ARGUMENT...]",
                           "coracle runs untrusted code in a fresh container and tells exactly what happened.", ""};

// Words of the design that somebody may try; each gets its command in time.
struct Planned {
    std::string_view name;
    std::string_view hint;
};
constexpr std::array<Planned, 4> planned{
    {{"bench", ""}, {"batch", "start several `coracle run` side by side"}, {"pool", ""}, {"profile", ""}}};

std::string command_list() {
    std::string lines = "Commands:\n";
    for (const auto& command : commands()) {
        lines += "  " + std::string(command.name) + std::string(12 - command.name.size(), ' ');
        lines += std::string(command.summary) + "\n";
    }
    return lines +
           "\n`coracle COMMAND --help` tells more. An example:\n"
           "  coracle run --memory 256m --timeout 5s busybox echo hello\n";
}

int print_help(const Context& context, std::span<const BoundOption> options) {
    const std::string list = command_list();
    auto help = parse_words({text.usage, text.about, list}, options, OptionsEnd::at_first_word, {"--help"});
    return help ? print(context, help->help_text) : fail(context, help.error());
}

int refuse_command(const Context& context, const std::string& word, ErrorForm form) {
    for (const auto& [name, hint] : planned) {
        if (name != word) continue;
        return fail(context, make_error(ErrorCode::unsupported, "'" + word + "' is not built yet", std::string(hint)),
                    form);
    }
    Arguments known;
    for (const auto& command : commands()) known.emplace_back(command.name);
    const auto hint = base::did_you_mean(word, known, "`coracle --help` lists the commands");
    return fail(context, make_error(ErrorCode::invalid_request, "unknown command '" + word + "'", hint), form);
}

int dispatch(Context& context, const std::string& word, const Arguments& args) {
    for (const auto& command : commands()) {
        if (command.name == word) return command.run(context, args);
    }
    const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
    return refuse_command(context, word, json ? ErrorForm::json : ErrorForm::text);
}

// `coracle help run` is `coracle run --help`.
Arguments without_help_word(Arguments words) {
    if (words.front() != "help") return words;
    if (words.size() == 1) return {};
    return {words[1], "--help"};
}

}  // namespace

int run_cli(std::span<const std::string> args, const Streams& streams, const EngineFactory& open_engine) {
    Context context{.streams = streams, .open_engine = open_engine, .global = {}};
    std::vector<BoundOption> options;
    add_global_options(options, context.global);
    auto parsed = parse_words(text, options, OptionsEnd::at_first_word, Arguments(args.begin(), args.end()));
    if (!parsed) return fail(context, parsed.error());
    if (!parsed->words.empty() && parsed->words.front() == "--") parsed->words.erase(parsed->words.begin());
    if (!parsed->help && !parsed->words.empty()) parsed->words = without_help_word(std::move(parsed->words));
    if (parsed->help || parsed->words.empty()) return print_help(context, options);
    return dispatch(context, parsed->words.front(), Arguments(parsed->words.begin() + 1, parsed->words.end()));
}

}  // namespace coracle::cli

// `coracle completion bash`: a script that completes commands and options.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/run_options.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle completion bash", "Print a completion script for bash.",
                           "Example:\n  source <(coracle completion bash)\n"};

std::string option_words() {
    RunDraft draft;
    GlobalOptions global;
    std::vector<BoundOption> options;
    add_request_options(options, draft);
    add_record_options(options, draft);
    add_global_options(options, global);
    std::string words;
    for (const auto& option : options) {
        if (option.group == hidden_group) continue;
        words += std::string(option.names.substr(option.names.find("--"))) + " ";
    }
    return words + "--help";
}

std::string command_words() {
    std::string words;
    for (const auto& command : commands()) words += (words.empty() ? "" : " ") + std::string(command.name);
    return words;
}

// Options are those of `run`; where none fits, bash's own completion of file names takes over.
std::string bash_script() {
    return "_coracle() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]}\n"
           "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
           "        COMPREPLY=($(compgen -W '" +
           command_words() +
           "' -- \"$word\"))\n"
           "    elif [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W '" +
           option_words() +
           "' -- \"$word\"))\n"
           "    fi\n"
           "}\n"
           "complete -o default -F _coracle coracle\n";
}

Result<std::string> execute(const Arguments& words) {
    if (words.size() == 1 && words.front() == "bash") return bash_script();
    return make_error(ErrorCode::unsupported, "completion is there for bash only", "write: coracle completion bash");
}

}  // namespace

int completion_command(Context& context, const Arguments& args) {
    const bool json = false;
    return answer(context, {}, args, {text, OptionsEnd::at_dashes, json, execute});
}

}  // namespace coracle::cli

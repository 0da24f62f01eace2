// The table of commands, and what all of them share: global options, printing, failing.
#include <cerrno>

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/record_json.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr Command table[]{
    {"run", "Run a command in a fresh sandbox", run_command},
    {"import", "Take an image into the store", import_command},
    {"pull", "Fetch an image from a registry", pull_command},
    {"images", "List the images in the store", images_command},
    {"doctor", "Say what this host can do, and what fixes the rest", doctor_command},
    {"ps", "List the runs that are alive", ps_command},
    {"kill", "Send a signal to live runs", kill_command},
    {"inspect", "Show an image: configuration, layers, sizes", inspect_command},
    {"tag", "Give an image another name", tag_command},
    {"rmi", "Remove images by name", rmi_command},
    {"gc", "Remove what no image needs, and images by age or size", gc_command},
    {"save", "Write images to an OCI archive or layout", save_command},
    {"du", "Show what the store takes on disk", du_command},
    {"login", "Keep credentials for a registry", login_command},
    {"logout", "Forget credentials for a registry", logout_command},
    {"plan", "Print what a run would do on this host", plan_command},
    {"bundle", "Write the OCI bundle of a run", bundle_command},
    {"version", "Print the version", version_command},
    {"completion", "Print a completion script for bash", completion_command},
};

Result<> set_path(std::optional<std::filesystem::path>& target, const std::string& value) {
    if (value.empty()) return make_error(ErrorCode::invalid_request, "'' is not a file", "name one");
    target = value;
    return {};
}

constexpr OptionRow<GlobalOptions> global_rows[]{
    {"--store", "DIR", global_group, "Where images live (/var/lib/coracle; users: ~/.local/share/coracle)",
     [](GlobalOptions& global, const std::string& value) -> Result<> {
         if (value.empty()) return make_error(ErrorCode::invalid_request, "'' is not a directory", "name one");
         global.engine.store = value;
         return {};
     }},
    {"--log-level", "LEVEL", global_group, "trace, debug, info, warn, error or off; on stderr (error)",
     [](GlobalOptions& global, const std::string& value) -> Result<> {
         auto level = parse_log_level(value);
         if (!level) return std::move(level).error();
         global.log_level = *level;
         return {};
     }},
    {"--config", "FILE", global_group, "Configuration over /etc/coracle/config.yaml and ~/.config/coracle/config.yaml",
     [](GlobalOptions& global, const std::string& value) { return set_path(global.engine.config, value); }},
    {"--authfile", "FILE", global_group, "Registries' credentials in FILE alone, in podman's form",
     [](GlobalOptions& global, const std::string& value) { return set_path(global.engine.authfile, value); }},
};

}  // namespace

std::span<const Command> commands() { return table; }

void add_global_options(std::vector<BoundOption>& options, GlobalOptions& target) {
    bind_rows(options, global_rows, target);
}

Result<> refuse_words(const Arguments& words) {
    if (words.empty()) return {};
    return make_error(ErrorCode::invalid_request, "unexpected word '" + words.front() + "'", "see --help")
        .at(Stage::request);
}

int print(const Context& context, std::string_view text) {
    const auto written = base::write_all(context.streams.out, text, "standard output");
    if (written) return status_ok;
    // Nobody reads any more (`coracle images | head -1`): that is no fault to tell of.
    return written.error().os_errno == EPIPE ? status_failed : fail(context, written.error());
}

void complain(const Context& context, std::string_view message, std::string_view hint) {
    std::string lines = "coracle: " + printable(message) + "\n";
    if (!hint.empty()) lines += "hint: " + printable(hint) + "\n";
    (void)base::write_all(context.streams.err, lines, "standard error");  // nowhere left to complain
}

int fail(const Context& context, const Error& error, ErrorForm form) {
    if (form == ErrorForm::json) {
        (void)print(context, error_json(error));
    } else {
        complain(context, error.message, error.hint);
    }
    return status_failed;
}

int answer(Context& context, std::vector<BoundOption> options, const Arguments& args, const Answer& answer) {
    add_global_options(options, context.global);
    auto parsed = parse_words(answer.text, options, answer.end, args);
    if (parsed && parsed->help) return print(context, parsed->help_text);
    const auto output = parsed ? answer.act(std::move(parsed->words)) : Result<std::string>(parsed.error());
    if (output) return print(context, *output);
    return fail(context, output.error(), answer.json ? ErrorForm::json : ErrorForm::text);
}

}  // namespace coracle::cli

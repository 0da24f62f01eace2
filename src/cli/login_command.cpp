// `coracle login` and `coracle logout`: who the caller is for a registry.
#include <unistd.h>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/prompt.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr Bytes longest_password = 64_KiB;

constexpr CommandText login_text{
    "coracle login [OPTIONS] REGISTRY",
    "Ask REGISTRY whether it takes a user and a password, and keep them if it does.\n"
    "They go into --authfile, $REGISTRY_AUTH_FILE or ~/.config/coracle/auth.json, readable for you alone.",
    "Examples:\n"
    "  coracle login registry.example:5000\n"
    "  pass show registry | coracle login -u anna --password-stdin docker.io\n"};

constexpr CommandText logout_text{"coracle logout [OPTIONS] REGISTRY\n       coracle logout [OPTIONS] --all",
                                  "Forget what `coracle login` keeps.", "Example:\n  coracle logout docker.io\n"};

struct LoginDraft {
    LoginRequest request;
    bool password_stdin = false;
};

constexpr OptionRow<LoginDraft> login_rows[]{
    {"-u,--username", "USER", "Login", "Name of the user; asked for where a terminal is there",
     [](LoginDraft& draft, const std::string& value) -> Result<> {
         draft.request.username = value;
         return {};
     }},
    {"--password-stdin", "", "Login", "Read the password, or a token, from stdin",
     [](LoginDraft& draft, const std::string&) -> Result<> {
         draft.password_stdin = true;
         return {};
     }},
    {"--no-verify", "", "Login", "Keep them without asking REGISTRY",
     [](LoginDraft& draft, const std::string&) -> Result<> {
         draft.request.verify = false;
         return {};
     }},
};

constexpr OptionRow<bool> logout_rows[]{
    {"--all", "", "Logout", "Forget every registry",
     [](bool& all, const std::string&) -> Result<> {
         all = true;
         return {};
     }},
};

Error unanswerable(std::string hint) {
    return make_error(ErrorCode::invalid_request, "nobody can be asked: stdin is no terminal", std::move(hint))
        .at(Stage::request);
}

Result<std::string> password_from_stdin(int in) {
    TRY(std::string password, base::read_all(in, longest_password, "stdin"));
    if (password.ends_with('\n')) password.pop_back();
    if (password.ends_with('\r')) password.pop_back();
    return password;
}

Result<> fill_in(LoginDraft& draft, const Streams& streams) {
    LoginRequest& request = draft.request;
    const bool terminal = ::isatty(streams.in) == 1;
    if (request.username.empty()) {
        if (!terminal || draft.password_stdin) return unanswerable("name the user with --username");
        TRY(request.username, ask(streams.in, streams.err, "Username: ", Echo::on));
    }
    if (draft.password_stdin) {
        TRY(request.password, password_from_stdin(streams.in));
    } else {
        if (!terminal) return unanswerable("give the password by --password-stdin");
        TRY(request.password, ask(streams.in, streams.err, "Password: ", Echo::off));
    }
    if (!request.password.empty()) return {};
    return make_error(ErrorCode::invalid_request, "the password is empty").at(Stage::request);
}

Result<std::string> one_registry(const Arguments& words) {
    if (words.size() == 1) return words.front();
    return make_error(ErrorCode::invalid_request, words.empty() ? "no registry is named" : "more than one registry",
                      "name one, such as docker.io or registry.example:5000")
        .at(Stage::request);
}

Result<std::string> log_in(Context& context, LoginDraft& draft, const Arguments& words) {
    TRY(draft.request.registry, one_registry(words));
    TRY_OK(fill_in(draft, context.streams));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const LoginDone done, engine->login(draft.request));
    for (const std::string& warning : done.warnings) complain(context, warning, {});
    return "logged in to " + printable(draft.request.registry) + " as " + printable(draft.request.username) +
           ", kept in " + printable(done.file.string()) + "\n";
}

Result<std::string> log_out(Context& context, bool all, const Arguments& words) {
    LogoutRequest request;
    if (all) {
        TRY_OK(refuse_words(words));
    } else {
        TRY(request.registry, one_registry(words));
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const LoginDone done, engine->logout(request));
    for (const std::string& warning : done.warnings) complain(context, warning, {});
    return "logged out of " + (all ? "every registry" : printable(*request.registry)) + "\n";
}

}  // namespace

int login_command(Context& context, const Arguments& args) {
    LoginDraft draft;
    std::vector<BoundOption> options;
    bind_rows(options, login_rows, draft);
    const bool json = false;
    const auto act = [&](const Arguments& words) { return log_in(context, draft, words); };
    return answer(context, std::move(options), args, {login_text, OptionsEnd::at_dashes, json, act});
}

int logout_command(Context& context, const Arguments& args) {
    bool all = false;
    std::vector<BoundOption> options;
    bind_rows(options, logout_rows, all);
    const bool json = false;
    const auto act = [&](const Arguments& words) { return log_out(context, all, words); };
    return answer(context, std::move(options), args, {logout_text, OptionsEnd::at_dashes, json, act});
}

}  // namespace coracle::cli

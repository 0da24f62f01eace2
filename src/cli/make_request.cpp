// Turns a draft of options and words into a Request: reads the files that they name.
#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cli/run_options.hpp"
#include "cli/values.hpp"

namespace coracle::cli {

namespace {

constexpr Bytes largest_env_file = 1_MiB;
constexpr Bytes largest_script = 4_MiB;

std::optional<std::string> callers_variable(const std::string& name) {
    const char* value = ::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// May wait: `--env-file <(...)` is a pipe, and its writer the caller's own.
Result<std::string> read_named_file(const std::string& path, Bytes bound) {
    TRY(const auto fd, base::open_file_at(AT_FDCWD, path, O_RDONLY | O_NOCTTY));
    return base::read_all(fd.get(), bound, path);
}

Result<std::vector<EnvVar>> read_env_file(const std::string& path) {
    TRY(const auto content, read_named_file(path, largest_env_file));
    return parse_env_file(content, callers_variable).within("'" + path + "'");
}

Result<std::vector<EnvVar>> environment_of(const RunDraft& draft) {
    std::vector<EnvVar> env;
    for (const auto& path : draft.env_files) {
        TRY(auto variables, read_env_file(path).within("--env-file"));
        for (auto& variable : variables) env.push_back(std::move(variable));
    }
    for (const auto& text : draft.env) {
        TRY(auto variable, parse_env(text, callers_variable).within("--env"));
        if (variable) env.push_back(*std::move(variable));
    }
    return env;
}

Result<std::string> read_script(const std::string& path, const RunDraft& draft, const Streams& streams) {
    if (path != "-") return read_named_file(path, largest_script);
    if (draft.request.stdin_mode == StdinMode::inherit) {
        return make_error(ErrorCode::invalid_request, "'-' and --interactive both want stdin",
                          "put the script into a file, or leave out -i");
    }
    return base::read_all(streams.in, largest_script, "stdin");
}

Result<> make_absolute(Volume& volume) {
    std::error_code cause;
    const auto path = std::filesystem::absolute(volume.host, cause);
    if (cause) return os_error("--volume: '" + volume.host + "' from the current directory", cause.value());
    volume.host = path.lexically_normal().string();
    return {};
}

Result<Request> finish(const RunDraft& draft, const Streams& streams) {
    Request request = draft.request;
    TRY(request.env, environment_of(draft));
    if (draft.script) {
        TRY(request.script, read_script(*draft.script, draft, streams).within("--script"));
    }
    for (auto& volume : request.volumes) TRY_OK(make_absolute(volume));
    request.streams = streams;
    request.output_mode = draft.record.json ? OutputMode::capture : OutputMode::passthrough;
    return request;
}

}  // namespace

Result<> take_words(RunDraft& draft, std::vector<std::string> words) {
    auto word = words.begin();
    if (word != words.end() && word->empty()) {
        return make_error(ErrorCode::invalid_request, "'' is not an image",
                          "name one of `coracle images`, such as: coracle run busybox echo hello")
            .at(Stage::request);
    }
    if (word != words.end() && *word != "--") draft.request.image = std::move(*word++);
    if (word != words.end() && *word == "--") ++word;
    draft.request.command.assign(std::make_move_iterator(word), std::make_move_iterator(words.end()));
    return {};
}

Result<Request> finish_request(const RunDraft& draft, const Streams& streams) {
    return finish(draft, streams).at(Stage::request);
}

}  // namespace coracle::cli

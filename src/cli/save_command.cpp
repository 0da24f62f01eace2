// `coracle save`: images into an OCI archive or layout.
#include <unistd.h>

#include "base/try.hpp"
#include "cli/command.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle save REF... -o FILE.tar|DIR/|-",
    "Write images to an OCI archive, to an OCI layout directory where the target ends with '/', or as an archive to\n"
    "standard output. `coracle import`, skopeo and podman read both.",
    "Examples:\n"
    "  coracle save busybox python:3.12 -o images.tar\n"
    "  coracle save busybox -o - | ssh host coracle import -\n"};

struct Draft {
    SaveRequest request;
};

constexpr OptionRow<Draft> rows[]{
    {"-o,--output", "FILE|DIR/|-", "Options", "Where to write",
     [](Draft& draft, const std::string& value) -> Result<> {
         if (value.empty()) return make_error(ErrorCode::invalid_request, "'' is no file", "name one, or - for stdout");
         draft.request.target = value;
         return {};
     }},
};

Result<std::string> execute(Context& context, Draft& draft, const Arguments& words) {
    SaveRequest& request = draft.request;
    if (words.empty() || request.target.empty()) {
        return make_error(ErrorCode::invalid_request, words.empty() ? "no image is named" : "no target is named",
                          "write: coracle save REF... -o FILE.tar")
            .at(Stage::request);
    }
    request.refs = words;
    if (request.target == "-") request.out_fd = context.streams.out;
    if (request.out_fd >= 0 && ::isatty(request.out_fd) == 1) {
        return make_error(ErrorCode::invalid_request, "the archive would go to the terminal",
                          "write it to a file or pipe")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY_OK(engine->save_images(request));
    return std::string();
}

}  // namespace

int save_command(Context& context, const Arguments& args) {
    Draft draft;
    const bool json = false;
    std::vector<BoundOption> options;
    bind_rows(options, rows, draft);
    const auto act = [&](const Arguments& words) { return execute(context, draft, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, json, act});
}

}  // namespace coracle::cli

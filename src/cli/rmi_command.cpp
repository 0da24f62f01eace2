// `coracle rmi`: images go by name.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/removal_text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle rmi [OPTIONS] REF...",
    "Remove images by name; a digest stands for all names of its image. With the last name go all blobs and unpacked\n"
    "layers that no other image needs. What a live run uses stays until `coracle gc` after its end.",
    "Examples:\n  coracle rmi busybox python:3.12\n  coracle rmi sha256:0f3c...\n"};

struct Draft {
    bool json = false;
};

constexpr OptionRow<Draft> rows[]{json_row<Draft>("Print what was removed as JSON")};

Result<std::string> execute(Context& context, const Draft& draft, const Arguments& words) {
    if (words.empty()) {
        return make_error(ErrorCode::invalid_request, "no image is named", "write: coracle rmi REF...")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto report, engine->remove_images(words));
    return draft.json ? removal_json(report, false) : removal_text(report, false);
}

}  // namespace

int rmi_command(Context& context, const Arguments& args) {
    Draft draft;
    std::vector<BoundOption> options;
    bind_rows(options, rows, draft);
    const auto act = [&](const Arguments& words) { return execute(context, draft, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, draft.json, act});
}

}  // namespace coracle::cli

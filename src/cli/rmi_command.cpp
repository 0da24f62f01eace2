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

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print what was removed as JSON")};

Result<std::string> execute(Context& context, const JsonDraft& draft, const Arguments& words) {
    if (words.empty()) {
        return make_error(ErrorCode::invalid_request, "no image is named", "write: coracle rmi REF...")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto report, engine->remove_images(words));
    return draft.json ? removal_json(report, false) : removal_text(report, false);
}

}  // namespace

int rmi_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

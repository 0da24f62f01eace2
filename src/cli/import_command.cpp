// `coracle import`: an image from a file or directory into the store.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle import [OPTIONS] SOURCE",
    "Take an image into the store, verify it and unpack its layers.\n"
    "SOURCE is an OCI layout directory, an OCI archive, a `docker save` archive, or a root file system as a\n"
    "directory or tar; compression is told by content. '-' is standard input.",
    "Examples:\n"
    "  docker save python:3.12 -o python.tar && coracle import python.tar\n"
    "  coracle import ./layout --tag mine:1\n"
    "  coracle import rootfs.tar.gz --tag tools\n"
    "  docker save python:3.12 | coracle import -\n"};

struct ImportDraft {
    ImportRequest request;
    bool json = false;
};

constexpr OptionRow<ImportDraft> rows[]{
    {"--tag", "REF", "Options", "Name in the store; default: the name in SOURCE, else its file name",
     [](ImportDraft& draft, const std::string& value) -> Result<> {
         if (value.empty()) return make_error(ErrorCode::invalid_request, "'' is not a name", "write it like mine:1");
         draft.request.tag = value;
         return {};
     }},
    json_row<ImportDraft>("Print the images as JSON"),
};

Result<> take_source(ImportDraft& draft, const std::vector<std::string>& words) {
    if (words.size() == 1 && !words.front().empty()) {
        draft.request.source = words.front();
        return {};
    }
    const std::string message = words.size() > 1 ? "more than one source is named" : "no source is named";
    return make_error(ErrorCode::invalid_request, message, "write: coracle import SOURCE [--tag REF]")
        .at(Stage::request);
}

Result<std::string> execute(Context& context, ImportDraft& draft, const std::vector<std::string>& words) {
    TRY_OK(take_source(draft, words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto images, engine->import_image(draft.request));
    if (draft.json) return images_json(images);
    std::string lines;
    for (const auto& image : images) {
        for (const auto& warning : image.warnings) complain(context, "warning: " + image.ref + ": " + warning, {});
    }
    for (const auto& image : images) lines += printable(image.ref + "  " + image.manifest_digest) + "\n";
    return lines;
}

}  // namespace

int import_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

// `coracle images`: what the store holds.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle images [OPTIONS]", "List the images in the store.",
                           "Example:\n  coracle images --json\n"};

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print JSON with full digests and sizes in bytes")};

std::string images_table(const std::vector<ImageInfo>& images) {
    std::vector<std::vector<std::string>> lines{{"IMAGE", "DIGEST", "PLATFORM", "SIZE", "CREATED"}};
    for (const ImageInfo& image : images) {
        lines.push_back({printable(image.ref), short_digest(image.manifest_digest), printable(image.platform),
                         human_size(image.size), image.created.empty() ? "-" : printable(image.created)});
    }
    return table(lines);
}

Result<std::string> execute(Context& context, const JsonDraft& draft, const Arguments& words) {
    TRY_OK(refuse_words(words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto images, engine->images());
    return draft.json ? images_json(images) : images_table(images);
}

}  // namespace

int images_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

// `coracle gc`: what no image needs goes, and images by age or by the size of the store.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/removal_text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle gc [OPTIONS]",
    "Remove blobs and unpacked layers that no image needs, and what killed processes left. With --older-than and\n"
    "--keep-size images go too, but none that a run uses. Waits up to ten seconds for an import or pull to end.",
    "Examples:\n  coracle gc --dry-run\n  coracle gc --older-than 720h --keep-size 10g\n"};

struct Draft {
    GcRequest request;
    bool json = false;
};

constexpr OptionRow<Draft> rows[]{
    {"--older-than", "DURATION", "Options", "Remove images that were not used for so long: 720h",
     [](Draft& draft, const std::string& value) -> Result<> {
         auto parsed = parse_duration(value);
         if (!parsed) return std::move(parsed).error();
         draft.request.older_than = *parsed;
         return {};
     }},
    {"--keep-size", "SIZE", "Options", "Then remove images, longest unused first, until the rest fits: 10g",
     [](Draft& draft, const std::string& value) -> Result<> {
         auto parsed = parse_bytes(value);
         if (!parsed) return std::move(parsed).error();
         draft.request.keep_size = *parsed;
         return {};
     }},
    {"--dry-run", "", "Options", "Remove nothing, print what would go",
     [](Draft& draft, const std::string&) -> Result<> {
         draft.request.dry_run = true;
         return {};
     }},
    json_row<Draft>("Print what was removed as JSON"),
};

Result<std::string> execute(Context& context, const Draft& draft, const Arguments& words) {
    TRY_OK(refuse_words(words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto report, engine->collect_garbage(draft.request));
    const bool dry_run = draft.request.dry_run;
    return draft.json ? removal_json(report, dry_run) : removal_text(report, dry_run);
}

}  // namespace

int gc_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

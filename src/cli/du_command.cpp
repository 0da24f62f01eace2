// `coracle du`: what the store takes on disk, by image and by kind.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle du [OPTIONS]",
    "Show what the store takes on disk. OWN goes when the image goes, SHARED is needed by other\n"
    "images too, UNNEEDED goes with `coracle gc`.",
    "Example:\n  coracle du --json\n"};

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print JSON with sizes in bytes")};

std::string names_of(const ImageUsage& image) {
    std::string line;
    for (const std::string& name : image.names) line += (line.empty() ? "" : ", ") + printable(name);
    return line;
}

std::string show(const DiskUsage& usage) {
    std::vector<std::vector<std::string>> images{{"DIGEST", "OWN", "SHARED", "NAMES"}};
    for (const ImageUsage& image : usage.images) {
        images.push_back(
            {short_digest(image.manifest_digest), human_size(image.own), human_size(image.shared), names_of(image)});
    }
    std::vector<std::vector<std::string>> parts{{"KIND", "COUNT", "SIZE", "UNNEEDED"}};
    const auto add = [&](const char* name, const ContentUsage& part) {
        parts.push_back({name, std::to_string(part.count), human_size(part.size), human_size(part.unneeded)});
    };
    add("blobs", usage.blobs);
    add("layers", usage.layers);
    add("flat", usage.flat);
    return table(images) + "\n" + table(parts) + "\ntotal " + human_size(usage.total) + "\n";
}

Result<std::string> execute(Context& context, const JsonDraft& draft, const Arguments& words) {
    TRY_OK(refuse_words(words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto usage, engine->disk_usage());
    return draft.json ? usage_json(usage) : show(usage);
}

}  // namespace

int du_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

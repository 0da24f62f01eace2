// `coracle inspect`: one image with its configuration, layers and sizes.
#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle inspect [OPTIONS] REF", "Show an image: names, configuration, layers and sizes.",
                           "Examples:\n  coracle inspect busybox\n  coracle inspect --json sha256:0f3c...\n"};

constexpr OptionRow<JsonDraft> rows[]{json_row<JsonDraft>("Print JSON, the image's configuration as it was written")};

// What the image says about its program, as it wrote it: Cmd, Env, User and the like.
void add_config(std::vector<std::vector<std::string>>& lines, const std::string& config) {
    const auto document = nlohmann::ordered_json::parse(config, nullptr, false);
    if (!document.is_object() || !document.contains("config") || !document["config"].is_object()) return;
    for (const auto& [key, value] : document["config"].items()) {
        if (value.empty() || value.is_null()) continue;
        const auto shown = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
        lines.push_back({"  " + printable(key), printable(shown)});
    }
}

std::string joined(const std::vector<std::string>& names) {
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ", ") + printable(name);
    return line.empty() ? "-" : line;
}

std::string show(const ImageDetails& details) {
    const ImageInfo& info = details.info;
    std::vector<std::vector<std::string>> lines{
        {"names", joined(details.names)},       {"manifest", info.manifest_digest},
        {"platform", printable(info.platform)}, {"created", info.created.empty() ? "-" : printable(info.created)},
        {"last used", details.last_used},       {"size", human_size(info.size)},
        {"config", details.config_digest}};
    add_config(lines, details.config);
    std::vector<std::vector<std::string>> layers{{"LAYER", "DIFF ID", "SIZE", "UNPACKED", "TYPE"}};
    for (const LayerInfo& layer : details.layers) {
        layers.push_back({short_digest(layer.digest), short_digest(layer.diff_id), human_size(layer.size),
                          layer.unpacked ? human_size(*layer.unpacked) : "no", printable(layer.media_type)});
    }
    return table(lines) + "\n" + table(layers);
}

Result<std::string> execute(Context& context, const JsonDraft& draft, const Arguments& words) {
    if (words.size() != 1) {
        return make_error(ErrorCode::invalid_request,
                          words.empty() ? "no image is named" : "more than one image is named",
                          "write: coracle inspect REF; `coracle images` lists them")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto details, engine->inspect_image(words.front()));
    return draft.json ? details_json(details) : show(details);
}

}  // namespace

int inspect_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

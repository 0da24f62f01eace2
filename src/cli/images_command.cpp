// `coracle images`: what the store holds.
#include <algorithm>
#include <array>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/record_json.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle images [OPTIONS]", "List the images in the store.",
                           "Example:\n  coracle images --json\n"};

constexpr OptionRow<bool> rows[]{
    {"--json", "", "Options", "Print JSON with full digests and sizes in bytes",
     [](bool& json, const std::string&) -> Result<> {
         json = true;
         return {};
     }},
};

constexpr std::size_t columns = 5;
using Row = std::array<std::string, columns>;

// The first twelve digits tell images apart; --json has them all.
std::string short_digest(const std::string& digest) { return digest.substr(digest.find(':') + 1).substr(0, 12); }

Row row_of(const ImageInfo& image) {
    return {printable(image.ref), short_digest(image.manifest_digest), printable(image.platform),
            human_size(image.size), image.created.empty() ? "-" : printable(image.created)};
}

std::string table(const std::vector<ImageInfo>& images) {
    std::vector<Row> lines{{"IMAGE", "DIGEST", "PLATFORM", "SIZE", "CREATED"}};
    for (const auto& image : images) lines.push_back(row_of(image));
    std::array<std::size_t, columns> widths{};
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    std::string output;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < columns; ++i)
            output += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
        output += line.back() + "\n";
    }
    return output;
}

Result<std::string> execute(Context& context, bool json, const Arguments& words) {
    TRY_OK(refuse_words(words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto images, engine->images());
    return json ? images_json(images) : table(images);
}

}  // namespace

int images_command(Context& context, const Arguments& args) {
    bool json = false;
    std::vector<BoundOption> options;
    bind_rows(options, rows, json);
    const auto act = [&](const Arguments& words) { return execute(context, json, words); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_dashes, json, act});
}

}  // namespace coracle::cli

// `coracle bundle`: the OCI bundle of a run, for `runc run` and for reading.
#include <filesystem>

#include "base/try.hpp"
#include "cli/run_options.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle bundle [OPTIONS] -o DIR IMAGE [--] [COMMAND [ARG...]]\n"
    "       coracle bundle [OPTIONS] IMAGE -o DIR",
    "Write the portable OCI bundle of a run: config.json with every limit and the root file system.",
    "Example:\n  coracle bundle -o ./b busybox echo hello && runc run -b ./b demo\n"};

struct BundleDraft {
    RunDraft run;
    std::filesystem::path target;
};

constexpr OptionRow<BundleDraft> rows[]{
    {"-o,--output", "DIR", "Bundle", "Where the bundle goes: a new or empty directory",
     [](BundleDraft& draft, const std::string& value) -> Result<> {
         if (value.empty()) return make_error(ErrorCode::invalid_request, "'' is not a directory", "name a new one");
         draft.target = value;
         return {};
     }},
};

// "IMAGE -o DIR" is how people write it; "-o" is no program's name, so it is not taken from any command.
void take_trailing_target(BundleDraft& draft, Arguments& words) {
    if (!draft.target.empty() || words.size() != 3 || (words[1] != "-o" && words[1] != "--output")) return;
    draft.target = words[2];
    words.resize(1);
}

Result<std::string> execute(Context& context, BundleDraft& draft, Arguments words) {
    take_trailing_target(draft, words);
    TRY_OK(take_words(draft.run, std::move(words)));
    if (draft.target.empty()) {
        return make_error(ErrorCode::invalid_request, "no place for the bundle is named", "add -o DIR before the image")
            .at(Stage::request);
    }
    TRY(const Request request, finish_request(draft.run, context.streams));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY_OK(engine->write_bundle(request, draft.target));
    return std::string();
}

}  // namespace

int bundle_command(Context& context, const Arguments& args) {
    BundleDraft draft;
    const bool json = false;
    std::vector<BoundOption> options;
    bind_rows(options, rows, draft);
    add_request_options(options, draft.run);
    const auto act = [&](Arguments words) { return execute(context, draft, std::move(words)); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_first_word, json, act});
}

}  // namespace coracle::cli

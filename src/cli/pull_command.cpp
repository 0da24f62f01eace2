// `coracle pull`: an image from a registry into the store.
#include "base/files.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/images_json.hpp"
#include "cli/pull_progress.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle pull [OPTIONS] REF",
                           "Fetch an image from a registry into the store, verify it and unpack its layers.\n"
                           "What the store holds already is not fetched again.",
                           "Examples:\n"
                           "  coracle pull docker.io/busybox\n"
                           "  coracle pull registry.example:5000/team/app:1.2 --platform linux/arm64\n"
                           "  coracle pull --json ghcr.io/owner/app@sha256:DIGEST\n"};

constexpr std::uint64_t most_parallel = 64;
constexpr Duration shortest_stall = std::chrono::milliseconds(100);

struct PullDraft {
    PullRequest request;
    bool json = false;
    bool quiet = false;
};

constexpr OptionRow<PullDraft> rows[]{
    {"--platform", "OS/ARCH[/VARIANT]", "Options", "Take the image for another machine, such as linux/arm64",
     [](PullDraft& draft, const std::string& value) -> Result<> {
         draft.request.platform = value;
         return {};
     }},
    {"--parallel", "N", "Options", "Layers at once (3)",
     [](PullDraft& draft, const std::string& value) -> Result<> {
         TRY(const std::uint64_t count, parse_count(value));
         if (count == 0 || count > most_parallel)
             return make_error(ErrorCode::invalid_request, "'" + value + "' is not a number from 1 to 64", "try 3");
         draft.request.parallel = static_cast<unsigned>(count);
         return {};
     }},
    {"--stall-timeout", "DURATION", "Options", "Longest time without a KiB a second from the registry (30s)",
     [](PullDraft& draft, const std::string& value) -> Result<> {
         TRY(draft.request.stall_timeout, parse_duration(value));
         if (draft.request.stall_timeout >= shortest_stall) return {};
         return make_error(ErrorCode::invalid_request, "'" + value + "' is shorter than 100ms", "try 30s");
     }},
    json_row<PullDraft>("Print events as lines of JSON, the last one with the image"),
    {"-q,--quiet", "", "Options", "Show no progress",
     [](PullDraft& draft, const std::string&) -> Result<> {
         draft.quiet = true;
         return {};
     }},
};

Result<> take_reference(PullDraft& draft, const Arguments& words) {
    if (words.size() == 1 && !words.front().empty()) {
        draft.request.reference = words.front();
        return {};
    }
    const std::string message = words.size() > 1 ? "more than one image is named" : "no image is named";
    return make_error(ErrorCode::invalid_request, message, "write: coracle pull REF").at(Stage::request);
}

Result<std::vector<ImageInfo>> pull_with_text(const Engine& engine, const PullDraft& draft, int err) {
    using Clock = PullProgressText::Clock;
    PullProgressText progress = progress_on(err);
    auto images =
        engine.pull_image(draft.request, [&progress](const PullEvent& event) { progress.take(event, Clock::now()); });
    progress.finish(Clock::now());
    return images;
}

Result<std::string> execute(Context& context, PullDraft& draft, const Arguments& words) {
    TRY_OK(take_reference(draft, words));
    TRY(const auto engine, context.open_engine(context.global.engine));
    if (draft.json) {
        const auto tell = [&](const PullEvent& event) {
            if (!draft.quiet) (void)base::write_all(context.streams.out, event_json(event), "standard output");
        };
        TRY(const auto images, engine->pull_image(draft.request, tell));
        return images_json(images);
    }
    TRY(const auto images, draft.quiet ? engine->pull_image(draft.request, [](const PullEvent&) {})
                                       : pull_with_text(*engine, draft, context.streams.err));
    std::string lines;
    for (const auto& image : images) lines += printable(image.ref + "  " + image.manifest_digest) + "\n";
    return lines;
}

}  // namespace

int pull_command(Context& context, const Arguments& args) { return answer_with(context, args, text, rows, execute); }

}  // namespace coracle::cli

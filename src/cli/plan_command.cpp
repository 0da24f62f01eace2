// `coracle plan`: every decision of a run, without the run.
#include "base/try.hpp"
#include "cli/run_options.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle plan [OPTIONS] IMAGE [--] [COMMAND [ARG...]]",
                           "Print what `coracle run` with the same options would do on this host, as JSON.\n"
                           "The options for the record are taken too and change nothing.",
                           "Example:\n  coracle plan --memory 256m busybox echo hello\n"};

Result<std::string> execute(Context& context, RunDraft& draft, Arguments words) {
    TRY_OK(take_words(draft, std::move(words)));
    TRY(const Request request, finish_request(draft, context.streams));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(auto plan, engine->explain(request));
    if (!plan.ends_with('\n')) plan += '\n';
    return plan;
}

}  // namespace

int plan_command(Context& context, const Arguments& args) {
    RunDraft draft;
    std::vector<BoundOption> options;
    add_request_options(options, draft);
    add_record_options(options, draft);
    const auto act = [&](Arguments words) { return execute(context, draft, std::move(words)); };
    return answer(context, std::move(options), args, {text, OptionsEnd::at_first_word, draft.record.json, act});
}

}  // namespace coracle::cli

// `coracle run`: one sandbox from its image to its record.
#include "base/try.hpp"
#include "cli/pull_progress.hpp"
#include "cli/record_json.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{
    "coracle run [OPTIONS] IMAGE [--] [COMMAND [ARG...]]\n"
    "       coracle run [OPTIONS] [-- COMMAND [ARG...]]",
    "Run COMMAND, or the image's own, in a fresh sandbox and tell how it ended.\n"
    "Options end at IMAGE: what follows belongs to the command, even where it looks like an option.\n"
    "Without IMAGE, or with -- in its place, it is default_image of the configuration.",
    "Exit status: the program's own; 128+N for signal N; 124 wall time over; 137 out of memory;\n"
    "  122 output limit; 123 policy refused; 125 coracle failed and nothing ran; 126 not executable;\n"
    "  127 not found. The status is a hint, `reason` in the record decides.\n\n"
    "Examples:\n"
    "  coracle run busybox echo hello\n"
    "  coracle run -m 256m --timeout 5s -v ./work:/work:ro busybox -- sh -c 'ls -l /work'\n"
    "  coracle run --json --cpus 0.5 busybox -- sh -c 'echo out; echo err >&2; exit 7'\n"
    "  echo data | coracle run -i busybox wc -c\n"
    "  coracle run --script hello.py python -- python3\n"
    "  coracle run --result record.json busybox make-report\n"};

Result<RunResult> execute(Context& context, RunDraft& draft, Arguments words) {
    TRY_OK(take_words(draft, std::move(words)));
    TRY(const Request request, finish_request(draft, context.streams));
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY(const auto signals, SignalPipe::install());
    PullProgressText progress = progress_on(context.streams.err);
    const auto tell = [&progress](const PullEvent& event) { progress.take(event, PullProgressText::Clock::now()); };
    return engine->run(request, signals.fd(), draft.quiet ? PullProgress() : PullProgress(tell));
}

RunResult failed(const Error& error, const RunDraft& draft) {
    RunResult result = failed_result(error);
    result.image_ref = draft.request.image;
    return result;
}

void log_findings(const Log& log, const RunResult& result) {
    for (const auto& warning : result.warnings) log.warn(warning);
    for (const auto& [limit, wanted, mechanism, reason] : result.limits.degraded) {
        log.warn("limit " + limit + " " + wanted + " is held by " + mechanism + ": " + reason);
    }
    for (const auto& [limit, wanted, granted, ceiling] : result.limits.clamped) {
        log.warn("limit " + limit + " " + wanted + " is held to " + granted + " by " + ceiling);
    }
    log.info("run " + result.id + " ended: " + std::string(to_string(result.reason)) + ", " +
             std::to_string(result.timing_ms.total) + " ms");
}

std::string story(const RunResult& result) {
    if (!result.message.empty()) return result.message;
    if (result.signal) return std::string("ended by signal ") + std::to_string(*result.signal);
    return "no more is known";
}

// A program that ended by itself has said what it had to say.
void tell(const Context& context, const RunResult& result) {
    if (result.reason == Reason::exited) return;
    complain(context, std::string(to_string(result.reason)) + ": " + story(result), result.hint);
}

int report(const Context& context, const RunResult& result, bool json, const RecordSinks& sinks) {
    const std::string record = record_json(result, json ? OutputMode::capture : OutputMode::passthrough);
    int status = exit_status(result);
    if (!json) tell(context, result);
    if (json && print(context, record) != status_ok) status = status_failed;
    if (auto written = sinks.write(record); !written) status = fail(context, written.error());
    return status;
}

}  // namespace

int run_command(Context& context, const Arguments& args) {
    RunDraft draft;
    std::vector<BoundOption> options;
    add_request_options(options, draft);
    add_record_options(options, draft);
    add_global_options(options, context.global);
    auto parsed = parse_words(text, options, OptionsEnd::at_first_word, args);
    if (parsed && parsed->help) return print(context, parsed->help_text);
    // Opened once and first: a FIFO cannot be opened twice, and even a usage error has its record.
    auto sinks = RecordSinks::open(draft.record);
    if (!sinks) parsed = sinks.error();
    auto run = parsed ? execute(context, draft, std::move(parsed->words)) : Result<RunResult>(parsed.error());
    const RunResult result = run ? std::move(run).value() : failed(run.error(), draft);
    log_findings(Log(context.global.log_level, context.streams.err), result);
    return report(context, result, draft.record.json, sinks ? std::move(sinks).value() : RecordSinks());
}

}  // namespace coracle::cli

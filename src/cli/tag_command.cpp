// `coracle tag`: another name for an image.
#include "base/try.hpp"
#include "cli/command.hpp"

namespace coracle::cli {

namespace {

constexpr CommandText text{"coracle tag REF NAME",
                           "Give an image another name. A name that is taken moves to this image.",
                           "Example:\n  coracle tag busybox registry.example:5000/tools/busybox:1\n"};

Result<std::string> execute(Context& context, const Arguments& words) {
    if (words.size() != 2) {
        return make_error(ErrorCode::invalid_request, "an image and its new name are wanted",
                          "write: coracle tag REF NAME")
            .at(Stage::request);
    }
    TRY(const auto engine, context.open_engine(context.global.engine));
    TRY_OK(engine->tag_image(words[0], words[1]));
    return std::string();
}

}  // namespace

int tag_command(Context& context, const Arguments& args) {
    const bool json = false;
    const auto act = [&](const Arguments& words) { return execute(context, words); };
    return answer(context, {}, args, {text, OptionsEnd::at_dashes, json, act});
}

}  // namespace coracle::cli

// Implements the reading of image configurations.
#include "oci/image_config.hpp"

#include "base/try.hpp"
#include "oci/json.hpp"

namespace coracle::oci {

namespace {

Result<std::vector<DiffId>> parse_diff_ids(const Fields& document) {
    TRY(const auto rootfs, document.object("rootfs"));
    if (!rootfs) return make_error(ErrorCode::corrupt, "image config: 'rootfs' is missing");
    TRY(const auto texts, rootfs->strings("diff_ids"));
    std::vector<DiffId> diff_ids;
    for (const std::string& text : texts) {
        TRY(Digest digest, Digest::parse(text).within("image config: diff_ids"));
        diff_ids.push_back(DiffId{std::move(digest)});
    }
    return diff_ids;
}

Result<> read_process(const Fields& document, ImageConfig& config) {
    TRY(const auto process, document.object("config"));
    if (!process) return {};
    TRY(config.entrypoint, process->strings("Entrypoint"));
    TRY(config.cmd, process->strings("Cmd"));
    TRY(config.env, process->strings("Env"));
    TRY(config.working_dir, process->string_or_empty("WorkingDir"));
    TRY(config.user, process->string_or_empty("User"));
    TRY(std::string stop_signal, process->string_or_empty("StopSignal"));
    if (!stop_signal.empty()) config.stop_signal = std::move(stop_signal);
    return {};
}

}  // namespace

Result<ImageConfig> parse_image_config(std::string_view json) {
    TRY(const Json value, parse_json(json, "image config"));
    TRY(const Fields document, Fields::of(value, "image config"));
    ImageConfig config;
    TRY(config.os, document.string_or_empty("os"));
    TRY(config.architecture, document.string_or_empty("architecture"));
    TRY(config.variant, document.string_or_empty("variant"));
    TRY(config.created, document.string_or_empty("created"));
    TRY_OK(read_process(document, config));
    TRY(config.diff_ids, parse_diff_ids(document));
    return config;
}

}  // namespace coracle::oci

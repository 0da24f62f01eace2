// Implements the transcription of the configured bounds.
#include "engine/image_limits.hpp"

#include "layer/limit_keys.hpp"

namespace coracle::engine {

namespace {

std::optional<std::uint64_t> said(const policy::Config& config, const char* key) {
    const auto found = config.images.find(key);
    return found == config.images.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

layer::Limits image_limits(const policy::Config& config) {
    layer::Limits limits;
    for (const auto& [key, count] : layer::count_keys) limits.*count = said(config, key).value_or(limits.*count);
    for (const auto& [key, bytes] : layer::size_keys) {
        limits.*bytes = Bytes{said(config, key).value_or((limits.*bytes).count)};
    }
    return limits;
}

unsigned image_parallel(std::optional<unsigned> asked, const policy::Config& config) {
    return asked.value_or(static_cast<unsigned>(said(config, "parallel").value_or(3)));
}

}  // namespace coracle::engine

// Implements the Engine's pull: the job for coracle-image, its answer, and when a run asks for it.
#include "base/try.hpp"
#include "engine/host_engine.hpp"
#include "engine/image_limits.hpp"
#include "image_program/client.hpp"
#include "oci/reference.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

Result<std::filesystem::path> HostEngine::image_program_path() const {
    const auto program = options_.image_program ? options_.image_program : image_program::find_program();
    if (program && !program->empty()) return *program;
    return make_error(ErrorCode::unsupported, "the program coracle-image is not installed",
                      "put it beside coracle or into ../libexec/coracle; files come in by `coracle import`");
}

Result<std::vector<ImageInfo>> HostEngine::pull_watched(const PullRequest& request, const PullWatch& watch) const {
    TRY(const auto program, image_program_path().at(Stage::resolve));
    PullRequest asked = request;
    asked.parallel = image_parallel(request.parallel, configuration_.config);
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const image_program::PullJob job{.to = {.store = store_.root(),
                                            .ownership = plan::ownership_of(mapping),
                                            .maps = plan::make_id_maps(host_, mapping),
                                            .limits = image_limits(configuration_.config)},
                                     .request = std::move(asked),
                                     .registries = configuration_.config.registries,
                                     .auth_files = credentials::find_sources(options_.authfile).files};
    return image_program::run_program(program, image_program::to_line(job), std::nullopt, watch.progress,
                                      watch.cancel_fd)
        .at(Stage::resolve);
}

Result<std::vector<ImageInfo>> HostEngine::pull_image(const PullRequest& request, const PullProgress& progress) const {
    return pull_watched(request, {.progress = progress});
}

Result<image::Image> HostEngine::resolve_image(const Request& request, const PullWatch& watch) const {
    if (request.pull != PullPolicy::always) {
        auto image = image::resolve(store_, request.image);
        const bool absent = !image && image.error().code == ErrorCode::not_found;
        if (!absent || request.pull == PullPolicy::never) return image;
        TRY(const oci::Reference reference, oci::parse_reference(request.image));
        // A short name without a registry to look for it is a name of the store, and the store's hint fits it.
        if (!reference.names_registry() && configuration_.config.registries.search.empty()) return image;
    }
    TRY(const auto pulled, pull_watched({.reference = request.image, .platform = {}}, watch));
    return image::resolve(store_, pulled.front().ref);
}

}  // namespace coracle::engine

// Implements the Engine's pull: the job for coracle-image, and its answer.
#include "base/try.hpp"
#include "engine/host_engine.hpp"
#include "image_program/client.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

Result<std::vector<ImageInfo>> HostEngine::pull_image(const PullRequest& request, const PullProgress& progress) const {
    const auto program = options_.image_program ? options_.image_program : image_program::find_program();
    if (!program || program->empty())
        return make_error(ErrorCode::unsupported, "the program coracle-image is not installed",
                          "put it beside coracle or into ../libexec/coracle; files come in by `coracle import`")
            .at(Stage::resolve);
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const image_program::PullJob job{.to = {.store = store_.root(),
                                            .ownership = plan::ownership_of(mapping),
                                            .maps = plan::make_id_maps(host_, mapping),
                                            .limits = {}},
                                     .request = request,
                                     .registries = {},
                                     .auth_files = credentials::find_sources({}).files};
    return image_program::run_program(*program, image_program::to_line(job), std::nullopt, progress).at(Stage::resolve);
}

}  // namespace coracle::engine

// Implements the Engine's pull: the job for coracle-image, and its answer.
#include "base/try.hpp"
#include "engine/host_engine.hpp"
#include "handoff/image_program.hpp"
#include "handoff/pull_job.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

Result<std::vector<ImageInfo>> HostEngine::pull_image(const PullRequest& request, const PullProgress& progress) const {
    TRY(const auto program, handoff::find_image_program(options_.image_program).at(Stage::resolve));
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const handoff::PullJob job{.store = places_.store,
                               .request = request,
                               .ownership = plan::ownership_of(mapping),
                               .maps = plan::make_id_maps(host_, mapping),
                               .registries = {},
                               .auth_files = credentials::find_sources({}).files};
    TRY(const oci::Json images,
        handoff::ask_image_program(program, {{"pull", handoff::to_json(job)}}, [&progress](const oci::Json& line) {
            const auto event = handoff::parse_pull_event(line);
            if (event) progress(*event);
        }).at(Stage::resolve));
    return handoff::parse_images(images);
}

}  // namespace coracle::engine

// Implements the Engine's doors but run(): opening, preparing, importing, listing, explaining, bundling.
#include "engine/host_engine.hpp"

#include <sys/stat.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/cgroup.hpp"
#include "engine/explain.hpp"
#include "engine/portable_bundle.hpp"
#include "engine/runtime_version.hpp"
#include "engine/volume_facts.hpp"
#include "image/import.hpp"
#include "plan/make_plan.hpp"
#include "runtime/run_directory.hpp"
#include "snapshot/read_merged.hpp"
#include "snapshot/snapshots.hpp"

namespace coracle {

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
    TRY(engine::Configuration configuration, engine::read_configuration(options));
    TRY(engine::Places places, engine::find_places(options));
    TRY(content::Store store, content::Store::open(places.store));
    const char* const path = std::getenv("PATH");
    host::HostFacts host = host::probe("/", path != nullptr ? path : "");
    // What a power cut or two kills at once have left of earlier runs.
    runtime::sweep_runs(places.runs,
                        [](const runtime::StaleRun& run) { (void)cgroup::remove_stale(run.cgroup_parents, run.id); });
    return std::unique_ptr<Engine>(std::make_unique<engine::HostEngine>(
        std::move(options), std::move(configuration), std::move(places), std::move(store), std::move(host)));
}

}  // namespace coracle

namespace coracle::engine {

namespace {

// Larger than any real passwd, smaller than what a hostile image could make us read.
constexpr Bytes most_account_text = 1_MiB;

Result<plan::ImageFacts> image_facts(const image::Image& image, const std::vector<std::filesystem::path>& layers) {
    plan::ImageFacts facts{.config = image.config, .passwd = {}, .group = {}};
    TRY(auto passwd, snapshot::read_merged(layers, "etc/passwd", most_account_text));
    TRY(auto group, snapshot::read_merged(layers, "etc/group", most_account_text));
    if (passwd) facts.passwd = std::move(*passwd);
    if (group) facts.group = std::move(*group);
    return facts;
}

ImageInfo info_of(const image::Image& image) {
    std::string platform = image.config.os + "/" + image.config.architecture;
    if (!image.config.variant.empty()) platform += "/" + image.config.variant;
    return {.ref = image.ref,
            .manifest_digest = image.manifest_digest.str(),
            .platform = std::move(platform),
            .size = image.size,
            .created = image.config.created};
}

}  // namespace

Result<Prepared> HostEngine::prepare(const Request& request, Timing* timing) const {
    Stopwatch watch;
    Request asked = request;
    if (!asked.runtime) asked.runtime = options_.runtime;
    TRY(plan::Settled settled, plan::settle(asked, configuration_.config).at(Stage::plan));
    TRY(image::Image image, image::resolve(store_, settled.request.image).at(Stage::resolve));
    if (timing != nullptr) timing->resolve = watch.lap();

    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    TRY(auto layers, snapshot::Snapshots(store_)
                         .prepare(image, plan::ownership_of(mapping), plan::make_id_maps(host_, mapping))
                         .at(Stage::unpack));
    TRY(const plan::ImageFacts facts, image_facts(image, layers).at(Stage::unpack));
    if (timing != nullptr) timing->unpack = watch.lap();

    TRY(auto volumes, look_at_volumes(request.volumes).at(Stage::plan));
    TRY(plan::ExecutionPlan plan, plan::make_plan({.request = settled.request,
                                                   .image = facts,
                                                   .host = host_,
                                                   .volumes = std::move(volumes),
                                                   .basis = settled.basis})
                                      .at(Stage::plan));
    plan.warnings.insert(plan.warnings.begin(), configuration_.warnings.begin(), configuration_.warnings.end());
    plan.runtime.version = runtime_version(places_.store, plan.runtime.path);
    auto sources = plan::limit_sources(request, settled);
    return Prepared{.settled = std::move(settled),
                    .limit_sources = std::move(sources),
                    .image = std::move(image),
                    .layers = std::move(layers),
                    .plan = std::move(plan)};
}

Result<std::string> HostEngine::explain(const Request& request) const {
    TRY(const Prepared prepared, prepare(request, nullptr));
    return explain_plan(prepared);
}

Result<> HostEngine::write_bundle(const Request& request, const std::filesystem::path& target) const {
    TRY(const Prepared prepared, prepare(request, nullptr));
    return write_portable_bundle(store_, prepared, target);
}

Result<std::vector<ImageInfo>> HostEngine::import_image(const ImportRequest& request) const {
    TRY(const auto imported, image::import(store_, request.source, request.tag).at(Stage::resolve));
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const base::IdMaps maps = plan::make_id_maps(host_, mapping);
    std::vector<ImageInfo> infos;
    for (const image::Image& image : imported) {
        // Unpacked at once: a layer that does not match its diff_id is told now and not at the first run.
        TRY(const auto layers,
            snapshot::Snapshots(store_).prepare(image, plan::ownership_of(mapping), maps).at(Stage::unpack));
        (void)layers;
        infos.push_back(info_of(image));
    }
    return infos;
}

Result<std::vector<ImageInfo>> HostEngine::images() const {
    TRY(const auto all, image::list(store_));
    std::vector<ImageInfo> infos;
    for (const image::Image& image : all) infos.push_back(info_of(image));
    return infos;
}

}  // namespace coracle::engine

// Implements the Engine's doors but run() and those to kept images: opening, preparing, importing, explaining,
// bundling.
#include "engine/host_engine.hpp"

#include <sys/stat.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/cgroup.hpp"
#include "engine/explain.hpp"
#include "engine/host_places.hpp"
#include "engine/portable_bundle.hpp"
#include "engine/runtime_version.hpp"
#include "engine/volume_facts.hpp"
#include "image/import.hpp"
#include "plan/host_image.hpp"
#include "plan/make_plan.hpp"
#include "runtime/run_directory.hpp"
#include "snapshot/flat.hpp"
#include "snapshot/read_merged.hpp"
#include "snapshot/snapshots.hpp"

namespace coracle {

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
    TRY(engine::Places places, engine::find_places(options));
    TRY(content::Store store, content::Store::open(places.store));
    const char* const path = std::getenv("PATH");
    host::HostFacts host = host::probe("/", path != nullptr ? path : "");
    // What a power cut or two kills at once have left of earlier runs.
    runtime::sweep_runs(places.runs,
                        [](const runtime::StaleRun& run) { (void)cgroup::remove_stale(run.cgroup_parents, run.id); });
    return std::unique_ptr<Engine>(
        std::make_unique<engine::HostEngine>(std::move(options), std::move(places), std::move(store), std::move(host)));
}

}  // namespace coracle

namespace coracle::engine {

namespace {

// Larger than any real passwd, smaller than what a hostile image could make us read.
constexpr Bytes most_account_text = 1_MiB;

Result<plan::ImageFacts> image_facts(const image::Image& image, const std::vector<std::filesystem::path>& layers) {
    plan::ImageFacts facts{.config = image.config, .passwd = {}, .group = {}, .host_places = {}};
    TRY(auto passwd, snapshot::read_merged(layers, "etc/passwd", most_account_text));
    TRY(auto group, snapshot::read_merged(layers, "etc/group", most_account_text));
    if (passwd) facts.passwd = std::move(*passwd);
    if (group) facts.group = std::move(*group);
    return facts;
}

}  // namespace

Result<std::vector<std::filesystem::path>> HostEngine::unpacked(const image::Image& image) const {
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const plan::Ownership ownership = plan::ownership_of(mapping);
    const base::IdMaps maps = plan::make_id_maps(host_, mapping);
    if (plan::choose_rootfs_kind(host_, mapping) == plan::RootfsKind::overlay) {
        return snapshot::Snapshots(store_).prepare(image, ownership, maps);
    }
    TRY(auto tree, snapshot::flat_tree(store_, image, ownership, maps));
    return std::vector{std::move(tree)};
}

Result<plan::ImageFacts> HostEngine::find_image(const Request& request, Prepared& prepared, Timing* timing) const {
    prepared.image_ref = request.image;
    if (is_host_image(request.image)) return plan::host_image_facts(host_, look_at_host_places());
    Stopwatch watch;
    TRY(prepared.image, image::resolve(store_, request.image).at(Stage::resolve));
    prepared.image_ref = prepared.image->ref;
    if (timing != nullptr) timing->resolve = watch.lap();
    TRY(prepared.layers, unpacked(*prepared.image).at(Stage::unpack));
    auto facts = image_facts(*prepared.image, prepared.layers).at(Stage::unpack);
    if (timing != nullptr) timing->unpack = watch.lap();
    return facts;
}

Result<Prepared> HostEngine::prepare(const Request& request, Timing* timing) const {
    Prepared prepared;
    TRY(const plan::ImageFacts facts, find_image(request, prepared, timing));
    TRY(auto volumes, look_at_volumes(request.volumes).at(Stage::plan));
    Request asked = request;
    if (!asked.runtime) asked.runtime = options_.runtime;
    TRY(prepared.plan, plan::make_plan({.request = asked, .image = facts, .host = host_, .volumes = std::move(volumes)})
                           .at(Stage::plan));
    prepared.plan.runtime.version = runtime_version(places_.store, prepared.plan.runtime.path);
    return prepared;
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
    std::vector<ImageInfo> infos;
    for (const image::Image& image : imported) {
        // Unpacked at once: a layer that does not match its diff_id is told now and not at the first run.
        TRY(const auto layers, unpacked(image).at(Stage::unpack));
        (void)layers;
        infos.push_back(info_of(image));
    }
    return infos;
}

}  // namespace coracle::engine

// Implements the Engine's doors but run() and those to kept images: opening, preparing, importing, explaining,
// bundling.
#include "engine/host_engine.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/cgroup.hpp"
#include "engine/explain.hpp"
#include "engine/host_places.hpp"
#include "engine/image_limits.hpp"
#include "engine/portable_bundle.hpp"
#include "engine/runtime_version.hpp"
#include "engine/volume_facts.hpp"
#include "image_program/client.hpp"
#include "importer/import.hpp"
#include "plan/host_image.hpp"
#include "plan/make_plan.hpp"
#include "runtime/run_directory.hpp"
#include "snapshot/flat.hpp"
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
    runtime::sweep_runs(places.runs, [](const runtime::StaleRun& run) {
        return cgroup::remove_stale(run.cgroup_parents, run.id).has_value();
    });
    return std::unique_ptr<Engine>(std::make_unique<engine::HostEngine>(
        std::move(options), std::move(configuration), std::move(places), std::move(store), std::move(host)));
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
        return snapshot::Snapshots(store_, image_limits(configuration_.config)).prepare(image, ownership, maps);
    }
    TRY(auto tree, snapshot::flat_tree(store_, image, ownership, maps, image_limits(configuration_.config)));
    return std::vector{std::move(tree)};
}

Result<plan::ImageFacts> HostEngine::find_image(const Request& request, const PullWatch& watch, Prepared& prepared,
                                                Timing* timing) const {
    prepared.image_ref = request.image;
    if (is_host_image(request.image)) return plan::host_image_facts(host_, look_at_host_places());
    Stopwatch stopwatch;
    TRY(prepared.image, resolve_image(request, watch).at(Stage::resolve));
    prepared.image_ref = prepared.image->ref;
    if (timing != nullptr) timing->resolve = stopwatch.lap();
    TRY(prepared.layers, unpacked(*prepared.image).at(Stage::unpack));
    auto facts = image_facts(*prepared.image, prepared.layers).at(Stage::unpack);
    if (timing != nullptr) timing->unpack = stopwatch.lap();
    return facts;
}

Result<Prepared> HostEngine::prepare(const Request& request, const host::HostFacts& host, const PullWatch& watch,
                                     Timing* timing) const {
    Prepared prepared;
    Request asked = request;
    if (!asked.runtime) asked.runtime = options_.runtime;
    TRY(prepared.settled, plan::settle(asked, configuration_.config).at(Stage::plan));
    TRY(const plan::ImageFacts facts, find_image(prepared.settled.request, watch, prepared, timing));
    TRY(auto volumes, look_at_volumes(prepared.settled.request.volumes).at(Stage::plan));
    TRY(auto devices, look_at_devices(prepared.settled.request.limits.io_max).at(Stage::plan));
    TRY(prepared.plan, plan::make_plan({.request = prepared.settled.request,
                                        .image = facts,
                                        .host = host,
                                        .volumes = std::move(volumes),
                                        .scratch_options = locked_options_at(places_.store.string()),
                                        .io_devices = std::move(devices),
                                        .basis = prepared.settled.basis,
                                        .draw = std::random_device()()})
                           .at(Stage::plan));
    plan::ExecutionPlan& plan = prepared.plan;
    plan.warnings.insert(plan.warnings.begin(), configuration_.warnings.begin(), configuration_.warnings.end());
    plan.runtime.version = runtime_version(places_.store, plan.runtime.path);
    return prepared;
}

Result<std::string> HostEngine::explain(const Request& request) const {
    Request asked = request;
    asked.pull = PullPolicy::never;  // it tells, and does nothing
    TRY(const Prepared prepared, prepare(asked, host_));
    return explain_plan(prepared, plan::limit_sources(request, prepared.settled));
}

Result<> HostEngine::write_bundle(const Request& request, const std::filesystem::path& target) const {
    TRY(const Prepared prepared, prepare(request, host_));
    return write_portable_bundle(store_, prepared, target);
}

Result<std::vector<ImageInfo>> HostEngine::import_image(const ImportRequest& request) const {
    const plan::IdMapping mapping = plan::choose_id_mapping(host_);
    const image_program::ImportJob job{
        .to = {.store = store_.root(),
               .ownership = plan::ownership_of(mapping),
               .maps = plan::make_id_maps(host_, mapping),
               .limits = image_limits(configuration_.config),
               .parallel = image_parallel(std::nullopt, configuration_.config)},
        .source = request.source == "-" ? "-" : std::filesystem::absolute(request.source),
        .tag = request.tag};
    const std::optional<int> stream = job.source == "-" ? std::optional(STDIN_FILENO) : std::nullopt;
    const auto program = options_.image_program ? options_.image_program : image_program::find_program();
    if (program && !program->empty()) {
        auto answer = image_program::run_program(*program, image_program::to_line(job), stream, {});
        // One that lacks a library has read nothing yet.
        if (answer || answer.error().os_errno != ENOEXEC) return answer;
    }
    return import_here(job, stream);
}

// Slower, since a static program has neither ISA-L nor threads.
Result<std::vector<ImageInfo>> HostEngine::import_here(const image_program::ImportJob& job,
                                                       std::optional<int> stream) const {
    const importer::Source source{.path = stream ? "" : job.source, .stream = stream};
    TRY(const auto imported,
        importer::import(store_, source, job.tag,
                         {.ownership = job.to.ownership, .maps = job.to.maps, .limits = job.to.limits}));
    std::vector<ImageInfo> infos;
    for (const auto& each : imported) infos.push_back(image_program::info_of(each.image, each.warnings));
    return infos;
}

}  // namespace coracle::engine

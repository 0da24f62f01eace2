// Implements a call of the intake.
#include "snapshot/taking.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <thread>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "layer/tree_writer.hpp"
#include "snapshot/ownership.hpp"
#include "snapshot/watched_source.hpp"

namespace coracle::snapshot {

namespace paths = content::paths;

namespace {

constexpr mode_t tree_mode = 0755;

std::string name_of(const oci::Descriptor& layer) { return "layer " + layer.digest.short_hex(); }

}  // namespace

// A layer that is unpacked because its tree or its blob is missing.
struct Taking::Job {
    std::size_t place = 0;
    const IncomingLayer* layer = nullptr;
    bool for_blob = false;  // its tree is there already, or comes from another job
    std::string folder{};   // below the scratch folder
    base::UniqueFd root{};
    std::unique_ptr<layer::TreeWriter> tree{};
};

layer::Unpacking Taking::how() {
    return {.limits = options_.limits, .image = &budget_, .pipelined = options_.parallel > 1};
}

Result<> Taking::take(const std::vector<IncomingLayer>& layers) {
    std::vector<oci::DiffId> diff_ids;
    for (const IncomingLayer& layer : layers) diff_ids.push_back(layer.diff_id);
    const LayerTrees trees(store_, diff_ids, folder_of(options_.ownership, options_.maps));
    if (jobs_for(layers, trees).empty()) return {};
    TRY(const auto locks, lock(layers, trees));
    std::vector<Job> jobs = jobs_for(layers, trees);  // less than before where somebody else did the work
    TRY_OK(work_through(jobs));
    TRY_OK(settle(layers, jobs, trees));
    return publish();
}

// In the order of their names: whoever waits for a lock holds none that comes after it.
Result<std::vector<content::NameLock>> Taking::lock(const std::vector<IncomingLayer>& layers,
                                                    const LayerTrees& trees) const {
    std::set<std::string> names;
    for (const Job& job : jobs_for(layers, trees)) {
        names.insert("layer-" + std::string(job.layer->diff_id.digest.hex()).substr(0, 64));
    }
    std::vector<content::NameLock> locks;
    for (const std::string& name : names) {
        TRY(content::NameLock held, content::NameLock::acquire(store_.dir(), name));
        locks.push_back(std::move(held));
    }
    return locks;
}

std::vector<Taking::Job> Taking::jobs_for(const std::vector<IncomingLayer>& layers, const LayerTrees& trees) const {
    std::vector<Job> jobs;
    std::set<std::string> blobs;
    std::set<oci::DiffId> unpacked;
    for (std::size_t at = 0; at < layers.size(); ++at) {
        const IncomingLayer& layer = layers[at];
        const bool wants_blob = layer.open && !store_.has(layer.descriptor.digest, layer.descriptor.size) &&
                                !blobs.contains(layer.descriptor.digest.str());
        const bool wants_tree = !unpacked.contains(layer.diff_id) && !trees.find(at);
        if (!wants_blob && !wants_tree) continue;
        blobs.insert(layer.descriptor.digest.str());
        unpacked.insert(layer.diff_id);
        Job& job = jobs.emplace_back();
        job.place = at;
        job.layer = &layer;
        job.for_blob = !wants_tree;
    }
    return jobs;
}

Result<> Taking::work_through(std::vector<Job>& jobs) {
    std::atomic<std::size_t> next{0};
    const std::size_t hands = std::min<std::size_t>(options_.parallel, jobs.size());
    std::vector<std::thread> threads;
    for (std::size_t hand = 1; hand < hands; ++hand) threads.emplace_back([&] { work(jobs, next); });
    work(jobs, next);
    for (std::thread& thread : threads) thread.join();
    if (error_) return *error_;
    return {};
}

void Taking::work(std::vector<Job>& jobs, std::atomic<std::size_t>& next) {
    while (!stop_) {
        const std::size_t at = next.fetch_add(1);
        if (at >= jobs.size()) return;
        auto unpacked = unpack(jobs[at]).within(name_of(jobs[at].layer->descriptor));
        if (unpacked) continue;
        const std::lock_guard guard(mutex_);
        // What another one stopped for the first's sake is no cause.
        if (!stop_ || (at < failed_at_ && unpacked.error().message.find(stopped) == std::string::npos)) {
            failed_at_ = at;
            error_ = std::move(unpacked).error();
        }
        stop_ = true;
    }
}

Result<> Taking::unpack(Job& job) {
    TRY_OK(prepare_tree(job));
    const oci::Descriptor& layer = job.layer->descriptor;
    TRY_OK(store_.has(layer.digest, layer.size) ? unpack_stored(job) : unpack_incoming(job));
    for (const std::string& text : job.tree->warnings()) {
        const std::lock_guard guard(mutex_);
        warnings_.push_back(name_of(layer) + ": " + text);
    }
    // Now, and not at the end: its lists take memory, and there may be hundreds.
    if (job.for_blob || job.tree->reaches_down()) return {};
    TRY_OK(std::move(*job.tree).finish());
    job.tree.reset();
    job.root.reset();
    return {};
}

Result<> Taking::prepare_tree(Job& job) {
    job.folder = std::to_string(job.place);
    const int dir = scratch_.dir().get();
    TRY_OK(base::make_dir_at(dir, job.folder, tree_mode));
    TRY_OK(base::make_dir_at(dir, job.folder + "/fs", tree_mode));
    TRY(job.root, base::open_dir_at(dir, job.folder + "/fs"));
    job.tree = std::make_unique<layer::TreeWriter>(job.root.get(), owners_of(options_.ownership),
                                                   opaque_mark_of(options_.ownership), options_.limits);
    return {};
}

Result<> Taking::unpack_stored(Job& job) {
    const oci::Descriptor& layer = job.layer->descriptor;
    TRY(const base::UniqueFd blob, store_.open_blob(layer.digest, layer.size));
    layer::FileSource file(blob.get());
    WatchedSource watched(file, layer, options_.progress, stop_);
    TRY(auto source, layer::VerifyingSource::create(watched, layer.digest, layer.size));
    TRY_OK(layer::apply_layer_as(job.layer->diff_id, source, layer.size, *job.tree, how()));
    return std::move(source).finish();
}

Result<> Taking::unpack_incoming(Job& job) {
    const oci::Descriptor& layer = job.layer->descriptor;
    if (!job.layer->open) {
        return make_error(ErrorCode::corrupt, "its blob is not in the store",
                          "the store is damaged: import the image again");
    }
    TRY(const auto bytes, job.layer->open());
    WatchedSource watched(*bytes, layer, options_.progress, stop_);
    TRY(content::BlobWriter writer, store_.new_blob(layer.digest.algorithm()));
    TeeSource tee(watched, writer, layer.size);
    TRY_OK(layer::apply_layer_as(job.layer->diff_id, tee, layer.size, *job.tree, how()));
    TRY_OK(std::move(writer).commit_as(layer.digest, layer.size));
    return {};
}

Result<> Taking::settle(const std::vector<IncomingLayer>& layers, std::vector<Job>& jobs, const LayerTrees& trees) {
    const auto reaches_down = [](const Job& job) { return job.tree != nullptr && !job.for_blob; };
    for (const Job& job : jobs) {
        if (!job.for_blob && !reaches_down(job)) finished_.emplace_back(job.folder, trees.target(job.place, false));
    }
    if (std::none_of(jobs.begin(), jobs.end(), reaches_down)) return {};
    MergedLayers lower;
    for (std::size_t at = 0; at < layers.size(); ++at) {
        const auto job = std::find_if(jobs.begin(), jobs.end(),
                                      [&](const Job& each) { return each.place == at && reaches_down(each); });
        std::optional<std::filesystem::path> tree = find_tree(at, trees);
        if (job != jobs.end()) {
            TRY(tree, finish_at(*job, lower, trees).within(name_of(layers[at].descriptor)));
        } else if (!tree) {
            // Listed again, and it reaches down: it is another one here.
            Job again;
            again.place = at;
            again.layer = &layers[at];
            TRY_OK(unpack(again).within(name_of(layers[at].descriptor)));
            TRY(tree, finish_at(again, lower, trees).within(name_of(layers[at].descriptor)));
        }
        TRY_OK(lower.add(*tree));
    }
    return {};
}

std::optional<std::filesystem::path> Taking::find_tree(std::size_t at, const LayerTrees& trees) const {
    if (const auto present = trees.find(at)) return store_.root() / *present / "fs";
    for (const auto& [folder, target] : finished_) {
        if (target == trees.target(at, false) || target == trees.target(at, true)) return scratch_tree(folder);
    }
    return std::nullopt;
}

std::filesystem::path Taking::scratch_tree(const std::string& folder) const {
    return store_.root() / paths::scratch(scratch_.name()) / folder / "fs";
}

Result<std::filesystem::path> Taking::finish_at(Job& job, const MergedLayers& lower, const LayerTrees& trees) {
    TRY_OK(finish(job, job.place == 0 ? nullptr : &lower, trees.target(job.place, true)));
    return scratch_tree(job.folder);
}

Result<> Taking::finish(Job& job, const MergedLayers* lower, const std::string& target) {
    TRY_OK(std::move(*job.tree).finish(lower));
    job.tree.reset();
    job.root.reset();
    finished_.emplace_back(job.folder, target);
    return {};
}

Result<TakenLayer> Taking::take_unnamed(const OpenSource& open, std::uint64_t size) {
    Job job;
    TRY_OK(prepare_tree(job));
    TRY(const auto bytes, open());
    TRY(content::BlobWriter writer, store_.new_blob());
    TeeSource tee(*bytes, writer, UINT64_MAX);
    TRY(oci::DiffId diff_id, layer::apply_layer(tee, size, *job.tree, how()));
    warnings_ = job.tree->warnings();
    const LayerTrees trees(store_, {diff_id}, folder_of(options_.ownership, options_.maps));
    TRY_OK(finish(job, nullptr, trees.target(0, job.tree->reaches_down())));
    TRY(content::BlobInfo blob, std::move(writer).commit());
    TRY_OK(publish());
    return TakenLayer{std::move(blob), std::move(diff_id)};
}

Result<> Taking::publish() {
    if (finished_.empty()) return {};
    const int scratch = scratch_.dir().get();
    const int store = store_.dir().get();
    // Once for all layers: after a power cut a layer that can be seen must be whole.
    if (::syncfs(scratch) != 0) return os_error("sync the unpacked layers", errno);
    for (const auto& [folder, target] : finished_) {
        TRY_OK(base::make_dir_at(store, target.substr(0, target.rfind('/')), 0700));
        if (::renameat(scratch, folder.c_str(), store, target.c_str()) == 0) continue;
        // A rootfs is taken without a lock: somebody else's is as good.
        if (errno != EEXIST && errno != ENOTEMPTY) return os_error("rename to '" + target + "'", errno);
        TRY_OK(base::remove_tree_at(scratch, folder));
    }
    return {};
}

}  // namespace coracle::snapshot

// One call of the intake, where the owners of files can be given.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "content/name_lock.hpp"
#include "content/scratch.hpp"
#include "layer/apply.hpp"
#include "snapshot/intake.hpp"
#include "snapshot/layer_trees.hpp"
#include "snapshot/merged_layers.hpp"

namespace coracle::snapshot {

// First the layers that are missing are unpacked one by one or several at once, each into a folder of `scratch`; then,
// from the lowest up, those that reach down get what they want of the others; then all are moved to their places.
class Taking {
public:
    // All must outlive it.
    Taking(const content::Store& store, const IntakeOptions& options, const content::Scratch& scratch)
        : store_(store), options_(options), scratch_(scratch) {}

    Result<> take(const std::vector<IncomingLayer>& layers);
    Result<TakenLayer> take_unnamed(const OpenSource& open, std::uint64_t size);
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    struct Job;
    Result<std::vector<content::NameLock>> lock(const std::vector<IncomingLayer>& layers,
                                                const LayerTrees& trees) const;
    std::vector<Job> jobs_for(const std::vector<IncomingLayer>& layers, const LayerTrees& trees) const;
    Result<> work_through(std::vector<Job>& jobs);
    void work(std::vector<Job>& jobs, std::atomic<std::size_t>& next);
    Result<> unpack(Job& job);
    Result<> unpack_stored(Job& job);
    Result<> unpack_incoming(Job& job);
    Result<> prepare_tree(Job& job);
    Result<> settle(const std::vector<IncomingLayer>& layers, std::vector<Job>& jobs, const LayerTrees& trees);
    std::optional<std::filesystem::path> find_tree(std::size_t at, const LayerTrees& trees) const;
    std::filesystem::path scratch_tree(const std::string& folder) const;
    Result<std::filesystem::path> finish_at(Job& job, const MergedLayers& lower, const LayerTrees& trees);
    Result<> finish(Job& job, const MergedLayers* lower, const std::string& target);
    Result<> publish();
    layer::Unpacking how();

    const content::Store& store_;
    const IntakeOptions& options_;
    const content::Scratch& scratch_;
    layer::ImageBudget budget_;
    std::vector<std::string> warnings_;
    std::vector<std::pair<std::string, std::string>> finished_;  // folder in the scratch folder, target in the store
    std::atomic<bool> stop_{false};
    std::mutex mutex_;  // of what follows
    std::size_t failed_at_ = SIZE_MAX;
    std::optional<Error> error_;
};

}  // namespace coracle::snapshot

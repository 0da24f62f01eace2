// The directory of one run on disk: its lock, its record for a later sweep, config.json, the stage for the keeper.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::runtime {

//   RUNS/<run id>/
//     lock         flock held while the run's coracle lives
//     record.json  what a sweep has to remove besides this directory
//     config.json  the bundle that the runtime is started with
//     stage/       the keeper mounts its tmpfs here, in its own mount namespace
class RunDirectory {
public:
    // `cgroup_parents` go into the record before any cgroup is made.
    static Result<RunDirectory> create(const std::filesystem::path& runs, const std::string& id,
                                       const std::vector<std::filesystem::path>& cgroup_parents);
    RunDirectory(RunDirectory&&) noexcept = default;
    RunDirectory& operator=(RunDirectory&&) = delete;
    ~RunDirectory();

    std::filesystem::path path() const { return runs_ / id_; }
    std::filesystem::path stage() const { return path() / "stage"; }
    Result<> write_config(std::string_view json) const;
    Result<> retire() &&;

private:
    RunDirectory(std::filesystem::path runs, std::string id) : runs_(std::move(runs)), id_(std::move(id)) {}
    std::filesystem::path runs_;
    std::string id_;
    base::UniqueFd runs_fd_;
    std::optional<base::FileLock> lock_;
};

// What a dead run may have left outside its directory.
struct StaleRun {
    std::string id;
    std::vector<std::filesystem::path> cgroup_parents;
};

// Removes what dead runs left in `runs`: `remove_rest` is called with each before its directory goes. A run is dead
// when its lock can be taken. Live runs, also those of other processes, are not touched.
template <class RemoveRest>
void sweep_runs(const std::filesystem::path& runs, RemoveRest remove_rest);

std::vector<std::string> run_ids(const std::filesystem::path& runs);
// Takes the dead run's lock and tells what it left; nothing where it lives or is just being made.
struct Doomed {
    StaleRun run;
    base::FileLock lock;
};
std::optional<Doomed> claim_if_dead(const std::filesystem::path& runs, const std::string& id);
void remove_run_directory(const std::filesystem::path& runs, const std::string& id);

template <class RemoveRest>
void sweep_runs(const std::filesystem::path& runs, RemoveRest remove_rest) {
    for (const std::string& id : run_ids(runs)) {
        const auto doomed = claim_if_dead(runs, id);
        if (!doomed) continue;
        remove_rest(doomed->run);
        remove_run_directory(runs, id);
    }
}

}  // namespace coracle::runtime

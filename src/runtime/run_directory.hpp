// The directory of one run on disk: its lock, its record for a later sweep, config.json, the stage for the keeper.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::runtime {

// What a run says of itself on disk.
struct RunRecord {
    std::vector<std::filesystem::path> cgroup_parents{};
    std::string image{};
    std::vector<std::string> command{};
    Duration wall_time{};
    pid_t pid = 0;             // of its coracle
    std::int64_t started = 0;  // seconds since 1970
};

//   RUNS/<run id>/
//     lock         flock held while the run's coracle lives
//     record.json  what a sweep has to remove besides this directory, and what `coracle ps` shows
//     control      FIFO: each byte is the number of a signal for the run, as from its caller
//     config.json  the bundle that the runtime is started with
//     stage/       the keeper mounts its tmpfs here, in its own mount namespace
class RunDirectory {
public:
    // The record is written before any cgroup is made.
    static Result<RunDirectory> create(const std::filesystem::path& runs, const std::string& id,
                                       const RunRecord& record);
    RunDirectory(RunDirectory&&) noexcept = default;
    RunDirectory& operator=(RunDirectory&&) = delete;
    ~RunDirectory();

    std::filesystem::path path() const { return runs_ / id_; }
    std::filesystem::path stage() const { return path() / "stage"; }
    // The reading end of `control`; never at its end.
    int control_fd() const { return control_.get(); }
    Result<> write_config(std::string_view json) const;
    Result<> retire() &&;
    // Left for a later sweep, which finds in its record what else is left.
    void abandon() && { runs_fd_.reset(); }

private:
    RunDirectory(std::filesystem::path runs, std::string id) : runs_(std::move(runs)), id_(std::move(id)) {}
    std::filesystem::path runs_;
    std::string id_;
    base::UniqueFd runs_fd_;
    std::optional<base::FileLock> lock_;
    base::UniqueFd control_;
};

// The runs in `runs` whose coracle lives, in no order; others' directories count where they can be read.
struct LiveRun {
    std::string id;
    RunRecord record;
};
std::vector<LiveRun> live_runs(const std::filesystem::path& runs);
// Sends a signal as its caller would. Error: not_found where no such run lives.
Result<> send_control(const std::filesystem::path& runs, const std::string& id, int signal_number);

// What a dead run may have left outside its directory.
struct StaleRun {
    std::string id;
    std::vector<std::filesystem::path> cgroup_parents;
};

// Removes what dead runs left in `runs`: `remove_rest` is called with each before its directory goes; where it returns
// false, the directory stays for the next sweep. A run is dead when its lock can be taken. Live runs, also those of
// other processes, are not touched.
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
        if (!remove_rest(doomed->run)) continue;
        remove_run_directory(runs, id);
    }
}

}  // namespace coracle::runtime

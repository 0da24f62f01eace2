// Owns the cgroup of one run: makes it, limits it, reads it, removes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/limits.hpp"
#include "coracle/result.hpp"
#include "plan/plan.hpp"

namespace coracle::cgroup {

// The counters of a run. Figures without a value were not available.
struct Reading {
    Figure<double> cpu_s, cpu_user_s, cpu_system_s, cpu_throttled_s;
    Figure<std::uint64_t> memory_peak, oom_kills, pids_peak, io_read, io_write;
};

class Cgroup {
public:
    // Makes the directories coracle-<run_id> below parents_of(plan, run_id), which are there, with room for the
    // runtime's own start: the limits proper come with tighten(). CgroupMode::none makes nothing, and everything below
    // is then empty.
    static Result<Cgroup> create(const plan::Cgroup& plan, const std::string& run_id);

    Cgroup(Cgroup&&) noexcept = default;
    Cgroup& operator=(Cgroup&&) = delete;
    ~Cgroup();

    plan::CgroupMode mode() const { return mode_; }
    // How a process gets in: born into this directory (v2), or by writing "0" to each of these files (v1). Both empty:
    // the runtime does it, or there is no cgroup.
    std::string v2_directory() const;
    std::vector<std::string> v1_tasks() const;

    // When the runtime is gone and init waits: sets the limits proper, reads each back, and starts counting from here.
    // Error: unavailable, naming the limit and the file that did not take it.
    Result<std::vector<Enforced>> tighten();

    // Kills every process in it at once (cgroup.kill, v2 on Linux 5.14). False: this cgroup cannot.
    bool kill() const;

    // Processor time since tighten(), user and system of all that is or was in it. No value: not counted here.
    std::optional<Duration> cpu_used() const;

    Reading read() const;
    // The last reading and the removal in one act. The processes must be gone.
    Result<Reading> retire() &&;
    // Left as it is, for a later sweep: a process in it does not die.
    void abandon() && { directories_.clear(); }

private:
    struct Directory {
        std::string controller;  // empty on v2
        std::filesystem::path path;
        base::UniqueFd fd;
        base::UniqueFd parent;
    };

    Cgroup(plan::CgroupMode mode, plan::Cgroup limits) : mode_(mode), limits_(std::move(limits)) {}
    const Directory* directory(const std::string& controller) const;
    Result<> set(const std::string& controller, const std::string& file, const std::string& value) const;
    Result<> set_start_limits() const;
    Bytes swap_ceiling() const;
    Result<Enforced> set_and_read_back(const std::string& limit, const std::string& controller, const std::string& file,
                                       const std::string& value) const;
    Result<> hold_block_io(std::vector<Enforced>& enforced) const;
    void start_counting();
    Reading raw() const;
    std::optional<Duration> raw_cpu() const;
    Result<> remove();

    plan::CgroupMode mode_;
    plan::Cgroup limits_;
    std::string name_;
    std::vector<Directory> directories_;
    Reading baseline_;  // at tighten(): the runtime's own share
    std::optional<Duration> cpu_baseline_;
    base::UniqueFd peak_;  // memory.peak, reset through this descriptor (Linux 6.12)
    bool peak_is_exact_ = false;
};

// Removes the cgroups of a run that is dead; missing ones are fine. Error: a process in one of them still lives.
Result<> remove_stale(const std::vector<std::filesystem::path>& parents, const std::string& run_id);

// config.json's cgroupsPath where the runtime manages the container's cgroup below ours, else empty.
std::string cgroups_path(const plan::Cgroup& plan, const std::string& run_id);

// The directories below which the run's own are made: the plan's parents, or the run's scope.
std::vector<std::filesystem::path> parents_of(const plan::Cgroup& plan, const std::string& run_id);

// The directory name of a run's cgroup, the same in every hierarchy; the keeper removes it by this name.
std::string directory_name(const std::string& run_id);

}  // namespace coracle::cgroup

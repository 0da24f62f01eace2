// Implements the life of one run's cgroup over directory descriptors, and its figures.
#include "cgroup/cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/counters.hpp"
#include "cgroup/user_scope.hpp"

namespace coracle::cgroup {

namespace {

using plan::CgroupMode;

// Where a runtime that manages cgroups itself puts the container, below the run's directory.
constexpr const char* runtime_child = "container";

// For a moment after its last process has gone a cgroup is still busy: 500 tries take a second, 20 some milliseconds.
constexpr int tries_after_a_run = 500;
constexpr int tries_in_a_sweep = 20;

Result<> remove_empty(int parent_fd, const std::string& name, int most_tries) {
    for (int tries = 0; tries < most_tries; ++tries) {
        if (::unlinkat(parent_fd, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        if (errno != EBUSY) break;
        ::usleep(tries < 20 ? 200 : 2000);
    }
    return os_error("remove the cgroup '" + name + "'", errno).at(Stage::remove);
}

Result<> remove_directory(int parent_fd, const std::string& name, int most_tries) {
    TRY_OK(remove_empty(parent_fd, name + "/" + runtime_child, most_tries));
    return remove_empty(parent_fd, name, most_tries);
}

// Hands the controllers to the children of `parent` (cgroup.subtree_control); those already handed on cost a read.
void enable_controllers(int parent_fd, bool cpuset) {
    const auto enabled = base::read_file_at(parent_fd, "cgroup.subtree_control", 4_KiB);
    const std::string known = " " + (enabled ? enabled.value() : std::string()) + " ";
    for (const std::string name : {"memory", "pids", "cpu", "io", "cpuset"}) {
        if (name == "cpuset" && !cpuset) continue;
        if (known.find(" " + name + " ") != std::string::npos || known.find(" " + name + "\n") != std::string::npos) {
            continue;
        }
        // What could not be enabled shows when its limit is set.
        (void)base::write_value_at(parent_fd, "cgroup.subtree_control", "+" + name);
    }
}

template <class T>
Figure<T> figure(std::optional<T> value, std::string_view source) {
    if (!value) return {};
    return {.value = value, .source = source};
}

template <class T>
void subtract(Figure<T>& figure, const Figure<T>& baseline) {
    if (figure.value && baseline.value) *figure.value -= std::min(*figure.value, *baseline.value);
}

std::optional<double> scaled(std::optional<std::uint64_t> value, double unit) {
    if (!value) return std::nullopt;
    return static_cast<double>(*value) * unit;
}

}  // namespace

std::string directory_name(const std::string& run_id) { return "coracle-" + run_id; }

std::vector<std::filesystem::path> parents_of(const plan::Cgroup& plan, const std::string& run_id) {
    std::vector<std::filesystem::path> parents;
    for (const plan::Cgroup::Parent& parent : plan.parents) {
        parents.push_back(plan.scope_bus.empty() ? parent.path : parent.path / scope_name(run_id));
    }
    return parents;
}

std::string cgroups_path(const plan::Cgroup& plan, const std::string& run_id) {
    if (!plan.runtime_managed) return {};
    const std::filesystem::path below = parents_of(plan, run_id).front().lexically_relative(plan.mount);
    return ("/" / below / directory_name(run_id) / runtime_child).lexically_normal().string();
}

Result<Cgroup> Cgroup::create(const plan::Cgroup& plan, const std::string& run_id) {
    Cgroup cgroup(plan.mode, plan);
    cgroup.name_ = directory_name(run_id);
    if (plan.mode != CgroupMode::v1 && plan.mode != CgroupMode::v2) return cgroup;
    const std::vector<std::filesystem::path> parents = parents_of(plan, run_id);
    for (std::size_t i = 0; i < parents.size(); ++i) {
        TRY(base::UniqueFd parent_fd, base::open_dir(parents[i]));
        if (plan.mode == CgroupMode::v2) enable_controllers(parent_fd.get(), !plan.cpuset.empty());
        const std::filesystem::path path = parents[i] / cgroup.name_;
        // EEXIST: cpu and cpuacct are often one hierarchy under two names.
        if (::mkdirat(parent_fd.get(), cgroup.name_.c_str(), 0755) != 0 && errno != EEXIST) {
            return os_error("create the cgroup '" + path.string() + "'", errno);
        }
        cgroup.directories_.push_back({plan.parents[i].controller, path, base::UniqueFd(), std::move(parent_fd)});
        Directory& made = cgroup.directories_.back();
        TRY(made.fd, base::open_dir_at(made.parent.get(), cgroup.name_));
        if (plan.runtime_managed) enable_controllers(made.fd.get(), !plan.cpuset.empty());
    }
    TRY_OK(cgroup.set_start_limits());
    return cgroup;
}

Cgroup::~Cgroup() { (void)remove(); }

std::string Cgroup::v2_directory() const {
    if (mode_ != CgroupMode::v2 || limits_.runtime_managed || directories_.empty()) return {};
    return directories_.front().path.string();
}

std::vector<std::string> Cgroup::v1_tasks() const {
    std::vector<std::string> files;
    if (mode_ != CgroupMode::v1) return files;
    for (const Directory& directory : directories_) files.push_back((directory.path / "tasks").string());
    return files;
}

const Cgroup::Directory* Cgroup::directory(const std::string& controller) const {
    for (const Directory& directory : directories_) {
        if (mode_ == CgroupMode::v2 || directory.controller == controller) return &directory;
    }
    return nullptr;
}

void Cgroup::start_counting() {
    if (const Directory* const memory = directory("memory")) {
        if (mode_ == CgroupMode::v1) {
            peak_is_exact_ = base::write_value_at(memory->fd.get(), "memory.max_usage_in_bytes", "0").has_value();
        } else {
            // Since Linux 6.12 a write resets what this descriptor reads; before, memory.peak is read-only.
            peak_.reset(::openat(memory->fd.get(), "memory.peak", O_RDWR | O_CLOEXEC));
            peak_is_exact_ = peak_ && ::write(peak_.get(), "0", 1) == 1;
            if (!peak_is_exact_) peak_.reset();
        }
    }
    baseline_ = raw();
    cpu_baseline_ = raw_cpu();
}

std::optional<Duration> Cgroup::raw_cpu() const {
    const bool v2 = mode_ == CgroupMode::v2;
    const Directory* const where = directory(v2 ? "cpu" : "cpuacct");
    if (where == nullptr) return std::nullopt;
    const int fd = where->fd.get();
    if (v2) {
        const auto used = read_keyed(fd, "cpu.stat", "usage_usec");
        return used ? std::optional<Duration>(std::chrono::microseconds(*used)) : std::nullopt;
    }
    const auto used = read_number(fd, "cpuacct.usage");
    return used ? std::optional<Duration>(*used) : std::nullopt;
}

std::optional<Duration> Cgroup::cpu_used() const {
    const auto now = raw_cpu();
    if (!now || !cpu_baseline_) return std::nullopt;
    return *now - *cpu_baseline_;
}

bool Cgroup::kill() const {
    return mode_ == CgroupMode::v2 && !directories_.empty() &&
           base::write_value_at(directories_.front().fd.get(), "cgroup.kill", "1").has_value();
}

Reading Cgroup::raw() const {
    Reading reading;
    const bool v2 = mode_ == CgroupMode::v2;
    const std::string_view source = v2 ? "cgroup2" : "cgroup1";
    if (const Directory* const cpu = directory("cpu")) {
        const int fd = cpu->fd.get();
        if (v2) {
            reading.cpu_s = figure(scaled(read_keyed(fd, "cpu.stat", "usage_usec"), 1e-6), source);
            reading.cpu_user_s = figure(scaled(read_keyed(fd, "cpu.stat", "user_usec"), 1e-6), source);
            reading.cpu_system_s = figure(scaled(read_keyed(fd, "cpu.stat", "system_usec"), 1e-6), source);
        }
        reading.cpu_throttled_s = v2 ? figure(scaled(read_keyed(fd, "cpu.stat", "throttled_usec"), 1e-6), source)
                                     : figure(scaled(read_keyed(fd, "cpu.stat", "throttled_time"), 1e-9), source);
    }
    if (const Directory* const cpuacct = v2 ? nullptr : directory("cpuacct")) {
        reading.cpu_s = figure(scaled(read_number(cpuacct->fd.get(), "cpuacct.usage"), 1e-9), source);
        reading.cpu_user_s = figure(scaled(read_number(cpuacct->fd.get(), "cpuacct.usage_user"), 1e-9), source);
        reading.cpu_system_s = figure(scaled(read_number(cpuacct->fd.get(), "cpuacct.usage_sys"), 1e-9), source);
    }
    if (const Directory* const memory = directory("memory")) {
        const int fd = memory->fd.get();
        reading.memory_peak = figure(read_number(fd, v2 ? "memory.peak" : "memory.max_usage_in_bytes"), source);
        reading.oom_kills = figure(read_keyed(fd, v2 ? "memory.events" : "memory.oom_control", "oom_kill"), source);
    }
    if (const Directory* const pids = directory("pids")) {
        reading.pids_peak = figure(read_number(pids->fd.get(), "pids.peak"), source);
    }
    if (const Directory* const io = directory("blkio")) {
        const int fd = io->fd.get();
        reading.io_read = figure(v2 ? read_io_stat(fd, "rbytes") : read_blkio(fd, "Read"), source);
        reading.io_write = figure(v2 ? read_io_stat(fd, "wbytes") : read_blkio(fd, "Write"), source);
    }
    return reading;
}

Reading Cgroup::read() const {
    Reading reading = raw();
    subtract(reading.cpu_s, baseline_.cpu_s);
    subtract(reading.cpu_user_s, baseline_.cpu_user_s);
    subtract(reading.cpu_system_s, baseline_.cpu_system_s);
    subtract(reading.cpu_throttled_s, baseline_.cpu_throttled_s);
    subtract(reading.io_read, baseline_.io_read);
    subtract(reading.io_write, baseline_.io_write);
    if (peak_) {
        std::string text(32, '\0');
        const ssize_t got = ::pread(peak_.get(), text.data(), text.size(), 0);
        if (got > 0) reading.memory_peak.value = std::strtoull(text.c_str(), nullptr, 10);
    } else if (!peak_is_exact_ && reading.memory_peak.value &&
               reading.memory_peak.value <= baseline_.memory_peak.value) {
        // The runtime's own start was the peak; what the program took is at most that.
        reading.memory_peak.source = "cgroup2_upper_bound";
    }
    // pids.peak cannot be reset: unless the program went above the runtime's start, its own peak is not known. init
    // does not count.
    if (reading.pids_peak.value) {
        if (reading.pids_peak.value > baseline_.pids_peak.value) {
            *reading.pids_peak.value -= 1;
        } else {
            reading.pids_peak = {};
        }
    }
    return reading;
}

Result<Reading> Cgroup::retire() && {
    const Reading reading = read();
    TRY_OK(remove());
    return reading;
}

Result<> Cgroup::remove() {
    Result<> outcome;
    for (const Directory& directory : directories_) {
        auto removed = remove_directory(directory.parent.get(), name_, tries_after_a_run);
        if (!removed && outcome) outcome = std::move(removed);
    }
    directories_.clear();
    return outcome;
}

Result<> remove_stale(const std::vector<std::filesystem::path>& parents, const std::string& run_id) {
    for (const std::filesystem::path& parent : parents) {
        const auto fd = base::open_dir(parent);
        if (!fd) continue;
        TRY_OK(remove_directory(fd.value().get(), directory_name(run_id), tries_in_a_sweep));
    }
    return {};
}

}  // namespace coracle::cgroup

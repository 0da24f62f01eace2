// Implements the limits of a run's cgroup; the only code that knows the limit files of v1 and v2.
#include <algorithm>
#include <charconv>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/cgroup.hpp"

namespace coracle::cgroup {

namespace {

using plan::CgroupMode;

// What runc itself needs while it starts: 6 MiB were too little now and then, 15 threads and processes were seen.
constexpr Bytes start_memory = 64_MiB;
constexpr std::uint64_t start_pids = 64;
constexpr std::uint64_t cpu_period_us = 100'000;

std::string quota_us(Cpus cpus) { return std::to_string(cpus.milli * (cpu_period_us / 1000)); }

// The kernel rounds bytes down to pages, of 64 KiB on some machines; anything else must be there as written.
bool is_rounded_down(const std::string& held, const std::string& written) {
    constexpr std::uint64_t largest_page = 65536;
    std::uint64_t wanted = 0;
    std::uint64_t got = 0;
    const auto parse = [](const std::string& text, std::uint64_t& number) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size();
    };
    return parse(written, wanted) && parse(held, got) && got <= wanted && wanted - got < largest_page;
}

// A line of io.max; the kernel writes all four rates, "max" for those without a limit.
std::string io_max_line(const IoMax& rates) {
    const auto value = [](const std::optional<std::uint64_t>& rate) { return rate ? std::to_string(*rate) : "max"; };
    return rates.device + " rbps=" + value(rates.rbps) + " wbps=" + value(rates.wbps) + " riops=" + value(rates.riops) +
           " wiops=" + value(rates.wiops);
}

}  // namespace

Result<> Cgroup::set(const std::string& controller, const std::string& file, const std::string& value) const {
    const Directory* const where = directory(controller);
    if (where == nullptr) return make_error(ErrorCode::unavailable, "no " + controller + " cgroup for " + file);
    return base::write_value_at(where->fd.get(), file, value).within("cgroup '" + where->path.string() + "'");
}

// v1 refuses a limit of memory and swap below that of memory alone.
Bytes Cgroup::swap_ceiling() const { return std::max({limits_.memory_swap, *limits_.memory, start_memory}); }

Result<> Cgroup::set_start_limits() const {
    const bool v2 = mode_ == CgroupMode::v2;
    if (limits_.memory) {
        const std::string bytes = std::to_string(std::max(*limits_.memory, start_memory).count);
        TRY_OK(set("memory", v2 ? "memory.max" : "memory.limit_in_bytes", bytes));
        // Swap closed, or the limit would only slow the program down. Absent where the kernel has no swap accounting.
        if (v2) {
            (void)set("memory", "memory.swap.max", "0");
        } else if (!set("memory", "memory.memsw.limit_in_bytes", std::to_string(swap_ceiling().count))) {
            (void)set("memory", "memory.swappiness", "0");
        }
    }
    if (limits_.pids) TRY_OK(set("pids", "pids.max", std::to_string(*limits_.pids + start_pids)));
    if (limits_.cpuset.empty()) return {};
    // v1 lets no process in before the directory has memory nodes, too (cgroup-v1/cpusets.rst).
    if (!v2) {
        TRY(std::string nodes, base::read_file_at(directory("cpuset")->parent.get(), "cpuset.mems", 4_KiB));
        TRY_OK(set("cpuset", "cpuset.mems", nodes.substr(0, nodes.find('\n'))));
    }
    return set("cpuset", "cpuset.cpus", to_string(limits_.cpuset));
}

Result<Enforced> Cgroup::set_and_read_back(const std::string& limit, const std::string& controller,
                                           const std::string& file, const std::string& value) const {
    TRY_OK(set(controller, file, value));
    const Directory* const where = directory(controller);
    TRY(std::string held, base::read_file_at(where->fd.get(), file, 4_KiB));
    while (!held.empty() && held.back() == '\n') held.pop_back();
    if (held != value && !(controller == "memory" && is_rounded_down(held, value))) {
        return make_error(ErrorCode::unavailable, "the limit " + limit + " was set to " + value +
                                                      " but the kernel holds " + held + " in " + file)
            .at(Stage::cgroup);
    }
    return Enforced{
        .limit = limit, .value = held, .source = (mode_ == CgroupMode::v2 ? "cgroup2 " : "cgroup1 ") + file};
}

// The rates of several devices are lines of one file.
Result<> Cgroup::hold_block_io(std::vector<Enforced>& enforced) const {
    for (const IoMax& rates : limits_.io_max) {
        const std::string line = io_max_line(rates);
        TRY_OK(set("io", "io.max", line));
        TRY(const std::string held, base::read_file_at(directory("io")->fd.get(), "io.max", 64_KiB));
        if (("\n" + held + "\n").find("\n" + line + "\n") == std::string::npos) {
            return make_error(ErrorCode::unavailable,
                              "the rates '" + line + "' were set but io.max holds '" + held + "'")
                .at(Stage::cgroup);
        }
        enforced.push_back({.limit = "io_max", .value = line, .source = "cgroup2 io.max"});
    }
    if (!limits_.io_weight) return {};
    // The kernel has one of them, by the controller that it was built with: blk-iocost or BFQ.
    for (const char* file : {"io.weight", "io.bfq.weight"}) {
        if (!base::exists_at(directory("io")->fd.get(), file)) continue;
        const std::string line = "default " + std::to_string(*limits_.io_weight);
        TRY(Enforced held, set_and_read_back("io_weight", "io", file, line));
        enforced.push_back(std::move(held));
        return {};
    }
    return make_error(ErrorCode::unsupported, "--io-weight: this kernel has neither io.weight nor io.bfq.weight",
                      "leave it out, or set rates with --io-max")
        .at(Stage::plan);
}

Result<std::vector<Enforced>> Cgroup::tighten() {
    std::vector<Enforced> enforced;
    const bool v2 = mode_ == CgroupMode::v2;
    const auto hold = [&](const char* limit, const char* controller, const char* file, const std::string& value) {
        auto held = set_and_read_back(limit, controller, file, value);
        if (held) enforced.push_back(std::move(held).value());
        return held.has_value() ? Result<>() : Result<>(std::move(held).error());
    };
    if (limits_.memory) {
        const std::string bytes = std::to_string(limits_.memory->count);
        TRY_OK(hold("memory", "memory", v2 ? "memory.max" : "memory.limit_in_bytes", bytes));
        // Not there without swap accounting (or, v2, without a swap device at all): then nothing is claimed.
        const char* const file = v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
        const Bytes swap = v2 ? Bytes{limits_.memory_swap.count - limits_.memory->count} : limits_.memory_swap;
        if (base::exists_at(directory("memory")->fd.get(), file)) {
            TRY_OK(hold("memory_swap", "memory", file, std::to_string(swap.count)));
        }
    }
    if (limits_.cpus) {
        const std::string quota = quota_us(*limits_.cpus);
        const std::string period = std::to_string(cpu_period_us);
        if (v2) {
            TRY_OK(hold("cpus", "cpu", "cpu.max", quota + " " + period));
        } else {
            TRY_OK(set("cpu", "cpu.cfs_period_us", period));
            TRY_OK(hold("cpus", "cpu", "cpu.cfs_quota_us", quota));
        }
    }
    // init itself is one of the processes.
    if (limits_.pids) TRY_OK(hold("pids", "pids", "pids.max", std::to_string(*limits_.pids + 1)));
    if (!limits_.cpuset.empty()) TRY_OK(hold("cpuset", "cpuset", "cpuset.cpus", to_string(limits_.cpuset)));
    TRY_OK(hold_block_io(enforced));
    start_counting();
    return enforced;
}

}  // namespace coracle::cgroup

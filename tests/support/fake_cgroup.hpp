// Directory trees of plain files that look like the cgroup "coracle-r1" of cgroup v2 and v1.
#pragma once

#include <gtest/gtest.h>

#include "cgroup/cgroup.hpp"
#include "support/test_dir.hpp"

namespace coracle::testing {

// Plain files keep what is written to them and are not cut to it: the values here are as long as those before them.
class FakeCgroup : public ::testing::Test {
protected:
    plan::Cgroup wanted(plan::CgroupMode mode) const {
        plan::Cgroup plan;
        plan.mode = mode;
        plan.memory = 256_MiB;
        plan.memory_swap = 256_MiB;
        plan.cpus = Cpus{1500};
        plan.pids = 128;
        if (mode == plan::CgroupMode::v2) plan.parents = {{.controller = {}, .path = dir_.path()}};
        if (mode == plan::CgroupMode::v1) {
            for (const char* name : {"memory", "cpu", "cpuacct", "pids", "blkio"}) {
                plan.parents.push_back({.controller = name, .path = dir_ / name});
            }
        }
        return plan;
    }
    // The kernel fills a cgroup's directory when it is made; here it is there before.
    void v2_files() const {
        dir_.write("cgroup.subtree_control", "memory pids cpu io\n");
        run("", {{"memory.max", "max      \n"},
                 {"memory.swap.max", "9\n"},
                 {"memory.peak", "900\n"},
                 {"memory.events", "oom 0\noom_kill 0\n"},
                 {"cpu.max", "max 100000   "},
                 {"pids.max", "max\n"},
                 {"pids.peak", "12\n"},
                 {"cpu.stat", "user_usec 3000000\nsystem_usec 1000000\nthrottled_usec 500000\n"},
                 {"io.stat", "8:0 rbytes=100 wbytes=10\n"},
                 {"cgroup.kill", "0"}});
    }
    void v1_files() const {
        run("memory", {{"memory.limit_in_bytes", "922337203"},
                       {"memory.memsw.limit_in_bytes", "922337203"},
                       {"memory.swappiness", "60"},
                       {"memory.max_usage_in_bytes", "9"},
                       {"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"}});
        run("cpu", {{"cpu.cfs_period_us", "100000\n"},
                    {"cpu.cfs_quota_us", "000-1\n"},
                    {"cpu.stat", "throttled_time 1000000000\n"}});
        run("cpuacct", {{"cpuacct.usage_user", "3000000000\n"}, {"cpuacct.usage_sys", "1000000000\n"}});
        run("pids", {{"pids.max", "max\n"}});
        run("blkio", {{"blkio.throttle.io_service_bytes", "8:0 Read 100\n8:0 Write 10\n"}});
    }
    using Files = std::vector<std::pair<const char*, std::string>>;
    void run(const std::string& controller, const Files& files) const {
        for (const auto& [name, text] : files)
            dir_.write(std::filesystem::relative(file(controller, name), dir_.path()).string(), text);
    }
    std::filesystem::path file(const std::string& controller, const std::string& name) const {
        return (dir_ / controller) / "coracle-r1" / name;
    }
    std::string text(const std::string& controller, const std::string& name) const {
        return test::read_text(file(controller, name));
    }
    void erase(const std::string& controller, const std::string& name) const {
        std::filesystem::remove(file(controller, name));
    }
    // rmdir(2) of a cgroup does not mind the kernel's files in it.
    void empty(const std::string& controller = {}) const {
        for (const auto& entry : std::filesystem::directory_iterator(file(controller, ""))) {
            std::filesystem::remove(entry.path());
        }
    }
    void empty_all() const {
        for (const char* name : {"memory", "cpu", "cpuacct", "pids", "blkio"}) empty(name);
    }
    static std::vector<std::string> words(const std::vector<Enforced>& enforced) {
        std::vector<std::string> rows;
        for (const Enforced& one : enforced) rows.push_back(one.limit + " = " + one.value + " in " + one.source);
        return rows;
    }

    test::TestDir dir_;
};

}  // namespace coracle::testing

// What this machine is and has, as far as a plan depends on it. Facts only; nothing is decided here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coracle::host {

// One cgroup v1 hierarchy.
struct CgroupV1 {
    std::string controller;       // "memory"
    std::filesystem::path mount;  // "/sys/fs/cgroup/memory"
    std::filesystem::path own;    // the directory of this process's cgroup in it
    bool writable = false;        // a directory could be made in `own`
};

// The cgroup v2 hierarchy.
struct CgroupV2 {
    std::filesystem::path mount;  // "/sys/fs/cgroup", or ".../unified" on a hybrid host
    std::filesystem::path own;    // the directory of this process's cgroup
    // The nearest directory from `own` upwards in which runs may be given cgroups of their own: writable (directory,
    // cgroup.procs and cgroup.subtree_control) and either the root or without processes. Absent: there is none.
    std::optional<std::filesystem::path> parent;
    std::vector<std::string> controllers;  // that `parent` can hand to its children
};

// The service manager of this user, `systemd --user`: it hands out scopes, cgroups with a subtree of their own.
struct UserManager {
    std::filesystem::path bus;             // the socket of the user's message bus, on which it is asked
    std::filesystem::path directory;       // its cgroup: ".../user.slice/user-1000.slice/user@1000.service"
    std::vector<std::string> controllers;  // that it can hand to its scopes
    std::string refusal;                   // why it gave none when it was asked; empty: not asked, or it did
};

// A line of /etc/subuid or /etc/subgid for this user.
struct SubRange {
    std::uint32_t start = 0;
    std::uint32_t count = 0;
};

struct Program {
    std::filesystem::path path;
};

struct HostFacts {
    uid_t uid = 0;
    gid_t gid = 0;
    bool privileged = false;  // uid 0 with CAP_SYS_ADMIN: mounts and namespaces without a user namespace
    std::vector<CgroupV1> cgroup_v1;
    std::optional<CgroupV2> cgroup_v2;
    std::optional<UserManager> user_manager;  // looked for only where cgroup_v2 has no parent for runs
    bool user_namespaces = true;              // no sysctl forbids them to ordinary users; an LSM still may
    bool overlay = false;                     // overlayfs is there, or a module of this kernel
    bool user_overlay = true;                 // ... and may be mounted in a user namespace (since Linux 5.11)
    std::vector<SubRange> subuids;
    std::vector<SubRange> subgids;
    std::optional<Program> newuidmap;
    std::optional<Program> runc;
    std::optional<Program> crun;
    // A process may count its own processor time (perf_event_open(2)), says the kernel's setting; a filter of an outer
    // container may still forbid it.
    bool perf_events = false;
    std::string resolv_conf;  // of the host; empty where it has none
    // This process's own hard limits (getrlimit(2)): nothing that it starts may have more.
    std::uint64_t hard_open_files = ~std::uint64_t{0};
    std::uint64_t hard_processes = ~std::uint64_t{0};
    std::uint64_t hard_file_size = ~std::uint64_t{0};
    std::uint64_t hard_core = ~std::uint64_t{0};
    std::uint64_t hard_stack = ~std::uint64_t{0};
    std::vector<unsigned> cpus{0};  // numbers of the CPUs in this process's affinity mask (sched_getaffinity(2))
    std::string search_path;        // the PATH in which programs were looked for
    std::string machine;            // uname -m: "x86_64"
};

// Reads the facts below `root`, "/" except in tests; `search_path` is a PATH. Unreadable parts count as absent.
HostFacts probe(const std::filesystem::path& root, const std::string& search_path);

// The first executable `name` in `search_path`.
std::optional<Program> find_program(const std::filesystem::path& root, const std::string& search_path,
                                    const std::string& name);

}  // namespace coracle::host

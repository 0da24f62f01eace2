// The ExecutionPlan: every decision of one run as a plain value. Made by make_plan; everything later transcribes it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/userns.hpp"
#include "coracle/limits.hpp"
#include "coracle/request.hpp"

namespace coracle::plan {

// Who the program is inside the sandbox.
struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> additional_gids;
};

struct Rlimit {
    std::string type;  // "RLIMIT_NOFILE"
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
};

inline constexpr const char* cpu_rlimit = "RLIMIT_CPU";  // the one that init sets, and not the runtime

struct Process {
    std::vector<std::string> args;  // never empty
    std::vector<std::string> env;   // "NAME=value", PATH and HOME always present
    std::string cwd;
    Identity user;
    std::vector<std::string> capabilities;  // "CAP_CHOWN" form; empty is the default
    std::vector<Rlimit> rlimits;
    std::string seccomp;  // profile name or path; "unconfined" for none
};

// Where the sandbox's ids come from.
enum class IdMapping {
    none,    // root: ids are the host's
    single,  // rootless without subordinate ids: container 0 is the caller, nothing else is mapped
    subids,  // rootless with newuidmap: container 0 is the caller, 1 and up are its subordinate ids
};

// Who owns the files of an unpacked layer; each has its own folder in the store.
enum class Ownership { root, single, subids };

enum class RootfsKind {
    overlay,  // read-only overlay of the layers, skeleton lowest
    flat,     // hosts without overlayfs: one unpacked tree and what lies above and below it, united by bind mounts
};

// A file that coracle puts into the root file system above the image ("etc/passwd" with a missing user added).
struct GeneratedFile {
    std::string path;  // relative to the root
    std::string content;
    mode_t mode = 0644;
};

// A symbolic link of the root file system below the image.
struct GeneratedLink {
    std::string path;  // relative to the root
    std::string target;
};

// A place in the root file system on which something will be mounted.
struct MountPoint {
    std::string path;  // relative to the root
    mode_t mode = 0755;
    bool file = false;  // a file, not a directory
    // Above the image's layers and not below them: the mode holds even where the image has the directory with another.
    // runc gives a tmpfs the mode of the directory that it is mounted on.
    bool on_top = false;
};

struct Rootfs {
    RootfsKind kind = RootfsKind::overlay;
    bool read_only = true;
    Bytes upper_size;  // what takes the writes where read_only is false
    // What the program writes to /workspace and to a writable root lies on the store's disk and not in memory; the
    // keeper measures it against upper_size.
    bool scratch_on_disk = false;
    bool user_xattr = false;  // overlay option of mounts made inside a user namespace
    std::vector<MountPoint> mount_points;
    std::vector<GeneratedFile> generated;
    std::vector<GeneratedLink> links;
};

// One entry of config.json's `mounts`, options in order.
struct Mount {
    std::string destination;
    std::string type;
    std::string source;
    std::vector<std::string> options;
    bool onto_file = false;   // the destination is a file: a bind of a single file
    bool on_scratch = false;  // the source is a folder of the run's scratch on disk, made when it starts
};

enum class CgroupMode {
    v2,    // coracle owns the run's cgroup below a writable cgroup v2 directory
    v1,    // the same in each of the v1 hierarchies memory, cpu, cpuacct, pids, blkio that are there
    none,  // no cgroup can be had: the limits that remain are rlimits
};

struct Cgroup {
    CgroupMode mode = CgroupMode::none;
    // v2 only, for a runtime that cannot be told to leave cgroups alone: it makes the container's cgroup below ours
    // (`cgroupsPath`), and ours, which holds the limits and the figures, has no process of its own.
    bool runtime_managed = false;
    std::filesystem::path mount;  // of the cgroup v2 hierarchy, to which cgroupsPath is relative
    // The existing directories below which the run's own is made: one on v2, one per controller on v1.
    struct Parent {
        std::string controller;  // "memory"; empty on v2
        std::filesystem::path path;
    };
    std::vector<Parent> parents;
    // v2 only: the run's own cgroup is made in a scope, coracle-<run id>.scope below the parent, which the user's
    // service manager makes when it is asked on this bus. Empty: there is no scope.
    std::filesystem::path scope_bus;
    // What the runtime is shown, read-only, as /sys/fs/cgroup: a cgroup v2 mount where there is one.
    std::filesystem::path view = "/sys/fs/cgroup";
    std::optional<Bytes> memory;  // absent: not limited by this cgroup
    Bytes memory_swap;            // RAM and swap together, where memory is limited
    std::optional<Cpus> cpus;
    std::optional<std::uint64_t> pids;
    std::vector<unsigned> cpuset;  // empty: not limited by this cgroup
    std::vector<IoMax> io_max;     // device as "8:0"; v2 only
    std::optional<std::uint64_t> io_weight;
};

struct Namespaces {
    bool network = true;       // false: the host's network
    bool cgroup = false;       // hides the path of the run's cgroup; v2 only
    bool nested_user = false;  // a user namespace of the run's own, 0->0, so that RLIMIT_NPROC counts it alone
};

enum class RuntimeKind { runc, crun, other };

struct Runtime {
    RuntimeKind kind = RuntimeKind::runc;
    std::filesystem::path path;
    std::string version;
};

// "runc", "crun", or the file name of another one.
std::string name_of(const Runtime& runtime);

struct ExecutionPlan {
    Process process;
    IdMapping id_mapping = IdMapping::none;
    base::IdMaps id_maps;  // empty for IdMapping::none
    Ownership ownership = Ownership::root;
    Rootfs rootfs;
    std::vector<Mount> mounts;
    std::vector<std::string> masked_paths;
    std::vector<std::string> readonly_paths;
    Namespaces namespaces;
    std::string hostname;
    Cgroup cgroup;
    Limits limits;
    bool watch_cpu_time = false;     // limits.cpu_time is held by watching a counter of all its processes
    bool count_cpu = false;          // that counter is init's (perf_event_open(2)), for want of a cgroup
    bool watch_memory = false;       // limits.memory is held by adding up the processes' memory, for want of a cgroup
    Cpus most_cpus{1000};            // the most processor time per wall time that the run can get
    std::vector<unsigned> affinity;  // numbers of the CPUs that the program sees; empty: all that coracle itself has
    std::vector<Degraded> degraded;
    Runtime runtime;
    std::optional<std::string> script;  // content of /coracle/script
    std::string foreign_platform;       // "linux/arm64" where the image is for another machine than this; else empty
    std::vector<std::string> warnings;
};

}  // namespace coracle::plan

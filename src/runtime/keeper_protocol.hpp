// What coracle and the keeper of a run say to each other: one job in, then created, failed or exited.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::runtime {

// The descriptors that the keeper finds open.
inline constexpr int keeper_channel_fd = 3;     // to coracle
inline constexpr int keeper_supervisor_fd = 4;  // pidfd of coracle's process: readable when it is gone
inline constexpr int keeper_init_fd = 5;        // init's end of its channel, handed on to the runtime

// How the keeper gets its ids where it was born into a new user namespace.
enum class KeeperIds {
    inherited,  // no user namespace: root
    self,       // writes its own maps: 0 -> uid, 0 -> gid
    mapped,     // coracle has written the maps before it sent the job
};

struct KeeperFile {
    std::string path;  // relative to the root
    std::string content;
    mode_t mode = 0644;
};

struct KeeperLink {
    std::string path;  // relative to the root
    std::string target;
};

// A place on which the runtime will mount something; made where the image has none.
struct KeeperMountPoint {
    std::string path;  // relative to the root
    mode_t mode = 0755;
    bool file = false;
    bool on_top = false;  // above the image's layers: the mode holds whatever the image has there
};

// The root file system to assemble in the keeper's mount namespace.
struct KeeperRootfs {
    bool overlay = true;              // false: united by bind mounts
    std::vector<std::string> lowers;  // absolute paths, topmost first
    bool user_xattr = false;
    bool read_only = true;
    std::uint64_t upper_bytes = 0;  // size of the tmpfs that takes the writes, or the most that `scratch` may take
    // A directory on disk that takes /workspace and the writes to a writable root; empty: there is none. The keeper
    // says when it holds too much, and removes it where coracle has died.
    std::string scratch;
    std::vector<KeeperMountPoint> mount_points;
    std::vector<KeeperFile> generated;
    std::vector<KeeperLink> links;
};

// How the runtime's process gets into the run's cgroup.
struct KeeperCgroup {
    std::string v2_directory;           // born inside by clone3(CLONE_INTO_CGROUP); empty: not v2
    std::vector<std::string> v1_tasks;  // files to which the process writes itself
    // What the runtime may see as /sys/fs/cgroup: this directory, bound read-only. Both runtimes then leave cgroups
    // alone; without any cgroup mount they refuse to start. Empty: untouched (runtime-managed mode).
    std::string view;
};

struct KeeperJob {
    KeeperIds ids = KeeperIds::inherited;
    uid_t outer_uid = 0;
    gid_t outer_gid = 0;
    std::string stage;  // existing directory; a tmpfs is mounted on it, in this mount namespace only
    KeeperRootfs rootfs;
    KeeperCgroup cgroup;
    std::vector<std::string> runtime_argv;  // complete; the program is argv[0]
};

// Names below the stage, shared by whoever writes the runtime's command line and the keeper that acts.
struct StagePaths {
    std::string root, state, pid_file, log, stderr_file;
};
StagePaths stage_paths(const std::string& stage);

// The container's init is there. Its pidfd comes along.
struct KeeperCreated {
    std::int64_t rootfs_done_ns = 0;  // CLOCK_MONOTONIC: the root file system stands
    std::int64_t created_ns = 0;      // the runtime has exited, init runs
};

// The sandbox could not be built; nothing of the program ran.
struct KeeperFailed {
    Error error;
    std::string runtime_log;     // JSON lines of --log-format json, may be empty
    std::string runtime_stderr;  // what the runtime wrote there, bounded
};

// What the program wrote to the scratch on disk is more than it may.
struct KeeperOverflow {
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;  // files, directories and links
};

// The container's init has ended.
struct KeeperExited {
    int wait_status = 0;
    std::int64_t user_us = 0;  // rusage of init and everything it waited for
    std::int64_t system_us = 0;
    std::uint64_t max_rss = 0;  // bytes, of the largest single process
};

enum class KeeperSays : std::uint8_t { job = 1, created, failed, overflow, exited };

std::string pack(const KeeperJob& job);
std::string pack(const KeeperCreated& created);
std::string pack(const KeeperFailed& failed);
std::string pack(const KeeperOverflow& overflow);
std::string pack(const KeeperExited& exited);

std::optional<KeeperJob> unpack_keeper_job(std::string_view bytes);
std::optional<KeeperCreated> unpack_keeper_created(std::string_view bytes);
std::optional<KeeperFailed> unpack_keeper_failed(std::string_view bytes);
std::optional<KeeperOverflow> unpack_keeper_overflow(std::string_view bytes);
std::optional<KeeperExited> unpack_keeper_exited(std::string_view bytes);

}  // namespace coracle::runtime

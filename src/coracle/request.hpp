// What a caller asks for: an image, a command, limits, and what of the host the sandbox may see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coracle/limits.hpp"

namespace coracle {

enum class NetworkMode {
    none,    // a network namespace of its own with only lo
    host,    // the host's network, unfiltered
    bridge,  // known words, not built yet: the plan refuses them
    egress,
};

struct Volume {
    std::string host;   // absolute path of an existing file or directory
    std::string guest;  // absolute path in the sandbox; created where the image has none
    bool read_only = true;
};

struct Tmpfs {
    std::string guest;
    Bytes size = 64_MiB;
    std::optional<std::uint64_t> inodes{};  // files, directories and links; default one for each 4 KiB of size
    bool executable = true;
};

struct EnvVar {
    std::string name;
    std::string value;
};

enum class PullPolicy { missing, always, never };

enum class StdinMode {
    empty,    // the program reads end-of-file at once
    inherit,  // Streams::in is the program's stdin
};

enum class OutputMode {
    capture,      // both streams are read, capped and stored in the result
    passthrough,  // the program writes to Streams::out and Streams::err itself
};

// What becomes of a captured stream beyond LimitRequest::output.
enum class OutputExcess {
    truncate,  // its beginning and its end are kept, half each; all of it is counted
    kill,      // the run ends with Reason::output_limit
    discard,   // nothing is kept, be it little or much; all of it is counted
};

// Descriptors lent for the length of one run; only read where the modes below say so.
struct Streams {
    int in = 0;
    int out = 1;
    int err = 2;
};

// Absent: what the configuration says, else the default that is named here.
struct Request {
    std::string image;                                   // as `coracle images` lists it; empty: the configured default
    std::vector<std::string> command;                    // replaces the image's CMD; empty: the image's own
    std::optional<std::vector<std::string>> entrypoint;  // replaces the image's ENTRYPOINT (and drops its CMD)
    std::vector<EnvVar> env;                             // over the image's ENV
    std::optional<std::string> workdir;                  // absolute path in the sandbox
    std::optional<std::string> user;                     // "name", "uid", "name:group", "uid:gid"
    std::optional<std::string> script;                   // text to run: a file /coracle/script in the sandbox
    LimitRequest limits;
    std::vector<Volume> volumes;
    std::vector<Tmpfs> tmpfs;
    std::optional<NetworkMode> network;  // default none
    std::optional<bool> writable_root;   // default false
    std::vector<std::string> cap_add;    // "CAP_NET_BIND_SERVICE" or "net_bind_service"; "ALL" is refused
    std::vector<std::string> cap_drop;   // removes from what cap_add gave; "ALL" empties it
    std::optional<std::string> seccomp;  // a profile's name, a file's path, or "unconfined"; default "default"
    PullPolicy pull = PullPolicy::missing;
    std::optional<std::string> runtime;  // "runc", "crun", "auto" or a path; default runc
    std::vector<std::string> require;    // defaults made strict: "memory", "cpus", "pids", "all"
    bool best_effort = false;            // asked-for limits may fall to weaker mechanisms; reported
    StdinMode stdin_mode = StdinMode::empty;
    OutputMode output_mode = OutputMode::capture;
    OutputExcess output_excess = OutputExcess::truncate;
    Streams streams;
};

}  // namespace coracle

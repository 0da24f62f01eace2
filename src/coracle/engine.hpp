// Runs sandboxes: the door through which the command line and embedding programs come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "coracle/result.hpp"

namespace coracle {

// Everything the engine takes from its surroundings, so that tests can point it elsewhere. Absent: the host's own.
struct EngineOptions {
    std::optional<std::filesystem::path> store;        // default: /var/lib/coracle, or $XDG_DATA_HOME/coracle
    std::optional<std::filesystem::path> runs;         // default: /run/coracle, or $XDG_RUNTIME_DIR/coracle
    std::optional<std::string> runtime;                // "runc", "crun", "auto" or a path
    std::optional<std::filesystem::path> cgroup_root;  // create runs' cgroups below this directory

    // Configuration, each over the one before. Only the first may set ceilings; it must be root's and written by nobody
    // else. The first two may be missing.
    std::filesystem::path system_config = "/etc/coracle/config.yaml";
    std::optional<std::filesystem::path> user_config;  // default: $XDG_CONFIG_HOME/coracle/config.yaml, ~/.config/...
    std::optional<std::filesystem::path> config;       // --config
    std::optional<std::filesystem::path> authfile;     // --authfile: credentials are read and kept there alone
};

struct ImageInfo {
    std::string ref;              // "busybox"
    std::string manifest_digest;  // "sha256:..."
    std::string platform;         // "linux/amd64"
    std::uint64_t size = 0;       // bytes of the blobs it names
    std::string created;          // RFC 3339 as the image says, may be empty
};

// Where an import comes from and what it is called afterwards.
struct ImportRequest {
    std::filesystem::path source;    // OCI layout directory, OCI archive, docker-archive, rootfs tar or directory
    std::optional<std::string> tag;  // name in the store; default: the name in the source, else its file name
};

// Who the caller is for a registry ("registry.example:5000", or with a part of a repository's path behind it).
struct LoginRequest {
    std::string registry;
    std::string username;
    std::string password;
};
struct LogoutRequest {
    std::optional<std::string> registry;  // absent: all of them
};
struct LoginDone {
    std::filesystem::path file;         // the auth file that was changed
    std::vector<std::string> warnings;  // such as another file that is read first
};

// Const after open(): one Engine serves many threads. No globals, no signal handlers, no threads of its own.
class Engine {
public:
    static Result<std::unique_ptr<Engine>> open(EngineOptions options);
    virtual ~Engine() = default;

    // Runs one sandbox to its end. Always a record: what goes wrong is its `reason`, never an exception. `signal_fd`,
    // where given, is a readable descriptor of one byte per event (a pipe): the byte is a signal number that is passed
    // on to the program; after TERM, INT or HUP the run ends as `cancelled`, a second one kills at once.
    virtual RunResult run(const Request& request, int signal_fd = -1) const = 0;

    // What would run, as JSON text with every decision in it.
    virtual Result<std::string> explain(const Request& request) const = 0;

    // Writes the portable OCI bundle of the request (config.json, rootfs/) into the new or empty directory `target`.
    virtual Result<> write_bundle(const Request& request, const std::filesystem::path& target) const = 0;

    // The images that `request.source` held, now in the store, layers unpacked and verified.
    virtual Result<std::vector<ImageInfo>> import_image(const ImportRequest& request) const = 0;
    virtual Result<std::vector<ImageInfo>> images() const = 0;

    // Keeps, or forgets, the caller's credentials in EngineOptions::authfile, $REGISTRY_AUTH_FILE or coracle's own
    // file.
    virtual Result<LoginDone> login(const LoginRequest& request) const = 0;
    virtual Result<LoginDone> logout(const LogoutRequest& request) const = 0;
};

}  // namespace coracle

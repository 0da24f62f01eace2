// Runs sandboxes: the door through which the command line and embedding programs come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
    // coracle-image; default: beside this program or in ../libexec/coracle. Empty: none, import in this process.
    std::optional<std::filesystem::path> image_program;
};

struct ImageInfo {
    std::string ref;                      // "busybox"
    std::string manifest_digest;          // "sha256:..."
    std::string platform;                 // "linux/amd64"
    std::uint64_t size = 0;               // bytes of the blobs it names
    std::string created;                  // RFC 3339 as the image says, may be empty
    std::vector<std::string> warnings{};  // what its layers asked for and did not get, such as devices; when imported
};

// Where an import comes from and what it is called afterwards.
struct ImportRequest {
    // OCI layout directory, OCI archive, docker-archive, rootfs tar or directory; "-" is standard input.
    std::filesystem::path source;
    std::optional<std::string> tag;  // name in the store; default: the name in the source, else its file name
};

// What is pulled, and how patient with the registry.
struct PullRequest {
    std::string reference;                              // "registry.example/team/app:1", by tag or digest
    std::optional<std::string> platform;                // "linux/arm64" or "linux/arm/v7"; default: this machine's
    unsigned parallel = 3;                              // layers at once
    Duration stall_timeout = std::chrono::seconds(30);  // longest time without a KiB a second from the registry
};

// What a pull tells on its way.
struct PullEvent {
    enum class Kind {
        manifest,  // `digest` is the manifest that was chosen
        layer,     // `bytes` of `total` have come
        present,   // the layer is in the store already
    };
    Kind kind = Kind::layer;
    std::string digest;
    std::uint64_t bytes = 0;
    std::uint64_t total = 0;
};
// Called on the caller's thread.
using PullProgress = std::function<void(const PullEvent& event)>;

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
    // The image that `request.reference` means, now in the store under that name, layers unpacked and verified.
    virtual Result<std::vector<ImageInfo>> pull_image(const PullRequest& request,
                                                      const PullProgress& progress) const = 0;
    virtual Result<std::vector<ImageInfo>> images() const = 0;
};

}  // namespace coracle

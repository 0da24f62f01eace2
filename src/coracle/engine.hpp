// Runs sandboxes: the door through which the command line and embedding programs come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/images.hpp"
#include "coracle/request.hpp"
#include "coracle/result.hpp"

namespace coracle {

// Everything the engine takes from its surroundings, so that tests can point it elsewhere. Absent: the host's own.
struct EngineOptions {
    std::optional<std::filesystem::path> store;        // default: /var/lib/coracle, or $XDG_DATA_HOME/coracle
    std::optional<std::filesystem::path> runs;         // default: /run/coracle, or $XDG_RUNTIME_DIR/coracle
    std::optional<std::string> runtime;                // "runc", "crun", "auto" or a path
    std::optional<std::filesystem::path> cgroup_root;  // create runs' cgroups below this directory
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
    virtual Result<ImageDetails> inspect_image(const std::string& ref) const = 0;
    virtual Result<> tag_image(const std::string& ref, const std::string& name) const = 0;
    // Takes the names away (a digest: all names of the image) and removes what no image needs any more. Live runs keep
    // what they use; so does everybody who is just bringing an image in, for a later collect_garbage().
    virtual Result<RemovalReport> remove_images(const std::vector<std::string>& refs) const = 0;
    virtual Result<RemovalReport> collect_garbage(const GcRequest& request) const = 0;
    // Writes images as an OCI archive or layout.
    virtual Result<> save_images(const SaveRequest& request) const = 0;
    virtual Result<DiskUsage> disk_usage() const = 0;
};

}  // namespace coracle

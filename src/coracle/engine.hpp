// Runs sandboxes: the door through which the command line and embedding programs come in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coracle/doctor.hpp"
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
    // coracle-image; default: beside this program or in ../libexec/coracle. Empty: none, import in this process.
    std::optional<std::filesystem::path> image_program;

    // Configuration, each over the one before. Only the first may set ceilings; it must be root's and written by nobody
    // else. The first two may be missing.
    std::filesystem::path system_config = "/etc/coracle/config.yaml";
    std::optional<std::filesystem::path> user_config;  // default: $XDG_CONFIG_HOME/coracle/config.yaml, ~/.config/...
    std::optional<std::filesystem::path> config;       // --config
    std::optional<std::filesystem::path> authfile;     // --authfile: credentials are read and kept there alone
};

// A run that is alive, of any process of this user; for root, of any user.
struct RunInfo {
    std::string id;
    std::string image;
    std::vector<std::string> command;
    std::uint32_t uid = 0;     // whose it is
    std::int32_t pid = 0;      // of its coracle
    std::int64_t started = 0;  // seconds since 1970
    Duration wall_time{};      // its --timeout
};

// Who the caller is for a registry ("registry.example:5000", or with a part of a repository's path behind it).
struct LoginRequest {
    std::string registry;
    std::string username;
    std::string password;
    bool verify = true;  // the registry is asked first, and what it refuses is not kept
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
    // on to the program; after TERM, INT or HUP the run ends as `cancelled`, a second one kills at once. `progress`,
    // where given, is told of the pull of an image that the store lacks.
    virtual RunResult run(const Request& request, int signal_fd = -1, const PullProgress& progress = {}) const = 0;

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

    // Looks at this host and runs a sandbox of the host's own programs.
    virtual DoctorReport doctor() const = 0;

    // The live runs, oldest first.
    virtual Result<std::vector<RunInfo>> runs() const = 0;
    // Sends `signal_number` to a live run as its caller would: TERM ends it as `cancelled`, KILL at once. `id` may be
    // the unique beginning of one. Error: not_found; invalid_request where several begin so.
    virtual Result<RunInfo> signal_run(const std::string& id, int signal_number) const = 0;

    virtual Result<ImageDetails> inspect_image(const std::string& ref) const = 0;
    virtual Result<> tag_image(const std::string& ref, const std::string& name) const = 0;
    // Takes the names away (a digest: all names of the image) and removes what no image needs any more. Live runs keep
    // what they use; so does everybody who is just bringing an image in, for a later collect_garbage().
    virtual Result<RemovalReport> remove_images(const std::vector<std::string>& refs) const = 0;
    virtual Result<RemovalReport> collect_garbage(const GcRequest& request) const = 0;
    // Writes images as an OCI archive or layout.
    virtual Result<> save_images(const SaveRequest& request) const = 0;
    virtual Result<DiskUsage> disk_usage() const = 0;
    // Keeps, or forgets, the caller's credentials in EngineOptions::authfile, $REGISTRY_AUTH_FILE or coracle's own
    // file. Error of a login: denied where the registry refuses them, unavailable where it cannot be asked.
    virtual Result<LoginDone> login(const LoginRequest& request) const = 0;
    virtual Result<LoginDone> logout(const LogoutRequest& request) const = 0;
};

}  // namespace coracle

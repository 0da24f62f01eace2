// What the store tells about its images, and what it is asked to do with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coracle/units.hpp"

namespace coracle {

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
    std::optional<unsigned> parallel{};                 // layers at once; default: the configuration's, else 3
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

struct LayerInfo {
    std::string digest;      // of the blob
    std::string diff_id;     // of its tar
    std::string media_type;  // as the manifest says
    std::uint64_t size = 0;  // bytes of the blob
    // Bytes on disk of the trees that it is unpacked to; absent: not unpacked.
    std::optional<std::uint64_t> unpacked;
};

struct ImageDetails {
    ImageInfo info;
    std::vector<std::string> names;  // all names of this manifest
    std::string config_digest;
    std::string config;             // the image configuration as its author wrote it: JSON
    std::string last_used;          // RFC 3339
    std::vector<LayerInfo> layers;  // lowest first
};

struct GcRequest {
    std::optional<Duration> older_than;  // images that were not used for so long go
    std::optional<Bytes> keep_size;      // then images go, longest unused first, until the store is no larger
    bool dry_run = false;                // tells what would go
};

struct Removed {
    std::string kind;  // "name", "blob", "layer", "flat", "temporary"
    std::string what;  // a name, or the path in the store
    std::uint64_t size = 0;
};

struct RemovalReport {
    std::vector<Removed> removed;
    std::vector<std::string> in_use;    // images without a name that stay while a run uses them
    std::vector<std::string> warnings;  // damaged images, trees that cannot be removed
};

struct SaveRequest {
    std::vector<std::string> refs;
    std::filesystem::path target;  // an archive; with a '/' at its end a layout directory, new or empty
    int out_fd = -1;               // where not negative: the archive is written there and `target` is not looked at
};

struct ImageUsage {
    std::vector<std::string> names;  // empty: only a run uses it
    std::string manifest_digest;
    std::uint64_t own = 0;     // bytes on disk that go when this image goes
    std::uint64_t shared = 0;  // bytes on disk that other images need as well
};

struct ContentUsage {
    std::uint64_t count = 0;
    std::uint64_t size = 0;
    std::uint64_t unneeded = 0;  // bytes of it that no image needs: `gc` removes them
};

struct DiskUsage {
    std::vector<ImageUsage> images;
    ContentUsage blobs, layers, flat;
    std::uint64_t total = 0;
};

}  // namespace coracle

// Makes the plan of a run out of what was asked for, the image and the host. Pure: the same input, the same plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"
#include "host/facts.hpp"
#include "oci/image_config.hpp"
#include "plan/plan.hpp"
#include "plan/settle.hpp"

namespace coracle::plan {

// A path of the host that the image `host` shows, as it is on this host.
struct HostPlace {
    enum class Kind { directory, file, link };
    std::string path;  // absolute
    Kind kind = Kind::directory;
    std::string target;                       // of a link
    std::vector<std::string> locked_options;  // as in VolumeFacts
};

struct ImageFacts {
    oci::ImageConfig config;
    std::string passwd;  // of the image; empty where it has none
    std::string group;
    // Of the image `host` alone: then there are no layers, and this is what the sandbox sees.
    std::optional<std::vector<HostPlace>> host_places;
};

// What plans need to know of a volume's host side, in the order of Request::volumes.
struct VolumeFacts {
    bool directory = true;
    std::vector<std::string> locked_options;  // "nosuid", "nodev", "noexec" of the mount it lies on
};

struct PlanInput {
    const Request& request;
    const ImageFacts& image;
    const host::HostFacts& host;
    std::vector<VolumeFacts> volumes;
    std::vector<std::string> scratch_options{};  // as VolumeFacts::locked_options, of the store's disk
    std::vector<std::string> io_devices{};       // "8:0", in the order of LimitRequest::io_max
    Basis basis;
    unsigned draw = 0;  // a random number, for what chance may decide
};

// Errors: invalid_request (the request contradicts itself), not_found (user, runtime), unsupported (this host cannot).
Result<ExecutionPlan> make_plan(const PlanInput& input);

// The parts that others ask before there is a plan.
IdMapping choose_id_mapping(const host::HostFacts& host);
base::IdMaps make_id_maps(const host::HostFacts& host, IdMapping mapping);
Ownership ownership_of(IdMapping mapping);
RootfsKind choose_rootfs_kind(const host::HostFacts& host, IdMapping mapping);

}  // namespace coracle::plan

// Everything of a run that is known before anything of the host is acquired: image, layers, host facts, plan.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coracle/request.hpp"
#include "image/image.hpp"
#include "plan/plan.hpp"
#include "plan/settle.hpp"

namespace coracle::engine {

struct Prepared {
    plan::Settled settled;                      // the request with what the configuration says
    std::string image_ref;                      // "busybox"; "host" for the host's own programs
    std::optional<image::Image> image;          // none for `host`
    std::vector<std::filesystem::path> layers;  // lowest first; one flat tree for RootfsKind::flat
    plan::ExecutionPlan plan;
};

}  // namespace coracle::engine

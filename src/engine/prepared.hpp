// Everything of a run that is known before anything of the host is acquired: image, layers, host facts, plan.
#pragma once

#include <filesystem>
#include <vector>

#include "coracle/request.hpp"
#include "image/image.hpp"
#include "plan/plan.hpp"

namespace coracle::engine {

struct Prepared {
    image::Image image;
    std::vector<std::filesystem::path> layers;  // lowest first
    plan::ExecutionPlan plan;
};

}  // namespace coracle::engine

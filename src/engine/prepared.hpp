// Everything of a run that is known before anything of the host is acquired: image, layers, host facts, plan.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "coracle/request.hpp"
#include "image/image.hpp"
#include "plan/plan.hpp"
#include "plan/settle.hpp"

namespace coracle::engine {

struct Prepared {
    plan::Settled settled;
    std::map<std::string, std::string> limit_sources;
    image::Image image;
    std::vector<std::filesystem::path> layers;  // lowest first
    plan::ExecutionPlan plan;
};

}  // namespace coracle::engine

// Every bound on images that a configuration may name reaches the unpacking.
#include "engine/image_limits.hpp"

#include <gtest/gtest.h>

#include "layer/limit_keys.hpp"

namespace coracle::engine {
namespace {

TEST(ImageLimits, EveryKeyOfTheConfigurationSetsItsBound) {
    std::size_t known = layer::count_keys.size() + layer::size_keys.size();
    EXPECT_EQ(policy::image_bounds.size(), known + 1) << "all of them, and parallel";
    for (const policy::ImageBound& bound : policy::image_bounds) {
        policy::Config config;
        config.images[std::string(bound.key)] = 7;
        const layer::Limits limits = image_limits(config);
        std::size_t changed = 0;
        for (const auto& [key, count] : layer::count_keys) changed += limits.*count == 7 && key == bound.key ? 1 : 0;
        for (const auto& [key, bytes] : layer::size_keys) {
            changed += (limits.*bytes).count == 7 && key == bound.key && bound.bytes ? 1 : 0;
        }
        EXPECT_EQ(changed, bound.key == "parallel" ? 0U : 1U) << bound.key;
    }
}

TEST(ImageLimits, WithoutAConfigurationAreTheBuiltInOnes) {
    EXPECT_EQ(image_limits({}).entries, layer::Limits{}.entries);
    EXPECT_EQ(image_limits({}).document, layer::Limits{}.document);
}

TEST(ImageParallel, IsTheCallersTheConfigurationsOrThree) {
    policy::Config config;
    EXPECT_EQ(image_parallel({}, config), 3U);
    config.images["parallel"] = 5;
    EXPECT_EQ(image_parallel({}, config), 5U);
    EXPECT_EQ(image_parallel(2, config), 2U);
}

}  // namespace
}  // namespace coracle::engine

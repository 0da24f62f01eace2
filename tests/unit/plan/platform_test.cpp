// An image for another machine is noted, and refused by nobody: an emulator may run it.
#include "oci/platform.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planning.hpp"

namespace coracle::plan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Planning;

ExecutionPlan plan_for(const std::string& os, const std::string& architecture) {
    Planning world;
    world.image.config.os = os;
    world.image.config.architecture = architecture;
    world.image.config.variant = "v8";
    return world.plan();
}

TEST(Platform, AnImageForAnotherMachineIsNoted) {
    const ExecutionPlan plan = plan_for("linux", "mips64le");
    EXPECT_EQ(plan.foreign_platform, "linux/mips64le/v8");
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("for linux/mips64le/v8, this machine is linux/")));
    EXPECT_EQ(plan_for("windows", oci::this_platform().architecture).foreign_platform.substr(0, 8), "windows/");
}

TEST(Platform, OneForThisMachineOrForAnyIsNot) {
    EXPECT_EQ(plan_for("linux", oci::this_platform().architecture).foreign_platform, "");
    EXPECT_EQ(plan_for("", "").foreign_platform, "");
}

}  // namespace
}  // namespace coracle::plan

// The bundles in bundles/ are what coracle writes, byte for byte, and valid against the OCI schema.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "base/files.hpp"
#include "runtime_config/runtime_config.hpp"
#include "support/golden_plans.hpp"

namespace coracle::runtime_config {
namespace {

namespace fs = std::filesystem;

const fs::path bundles = fs::path(CORACLE_SOURCE_DIR) / "bundles";

fs::path golden_path(const std::string& name) { return bundles / name / "config.json"; }

std::string written(const testing::GoldenPlan& golden) {
    const plan::Process& process = golden.plan.process;
    return portable_config(golden.plan, policy::find_seccomp(process.seccomp, process.capabilities).value()).value();
}

// scripts/accept-golden sets it.
bool accepting() { return std::getenv("CORACLE_ACCEPT_GOLDEN") != nullptr; }

void accept(const testing::GoldenPlan& golden) {
    fs::create_directories(golden_path(golden.name).parent_path());
    std::ofstream(golden_path(golden.name), std::ios::binary) << written(golden);
}

TEST(GoldenBundles, AreExactlyWhatCoracleWrites) {
    for (const testing::GoldenPlan& golden : testing::golden_plans()) {
        if (accepting()) accept(golden);
        const auto text = base::read_file(golden_path(golden.name), 1_MiB);
        ASSERT_TRUE(text) << text.error().message;
        EXPECT_TRUE(text.value() == written(golden))
            << golden.name << " differs: run scripts/accept-golden, read git diff";
    }
}

TEST(GoldenBundles, HaveNoFolderThatNobodyWrites) {
    std::set<std::string> known;
    for (const testing::GoldenPlan& golden : testing::golden_plans()) known.insert(golden.name);
    for (const auto& entry : fs::directory_iterator(bundles)) {
        EXPECT_TRUE(!entry.is_directory() || known.contains(entry.path().filename())) << entry.path();
    }
}

TEST(GoldenBundles, AreValidAgainstTheOciRuntimeSchema) {
    std::string command = "'" CORACLE_SOURCE_DIR "/scripts/check-bundle-schema'";
    for (const testing::GoldenPlan& golden : testing::golden_plans())
        command += " '" + golden_path(golden.name).string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace coracle::runtime_config

// Configuration files are read in their order, and only from those who may write them.
#include "engine/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/env_setting.hpp"
#include "support/test_dir.hpp"

namespace coracle::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::EnvSetting;
using test::must;
using test::must_fail;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReadConfiguration : public ::testing::Test {
protected:
    fs::path file(const std::string& name, const std::string& text, mode_t mode = 0644) {
        const auto path = dir_.write(name, text);
        ::chmod(path.c_str(), mode);
        return path;
    }
    ReadConfiguration() {
        options_.system_config = dir_ / "etc.yaml";
        options_.user_config = dir_ / "user.yaml";
    }

    test::TestDir dir_;
    EngineOptions options_;
};

TEST_F(ReadConfiguration, MissingFilesSayNothing) {
    const Configuration all = must(read_configuration(options_));
    EXPECT_FALSE(all.config.memory);
    EXPECT_THAT(all.warnings, IsEmpty());
}

TEST_F(ReadConfiguration, EachFileIsOverTheOneBefore) {
    if (::geteuid() == 0) file("etc.yaml", "sandbox: {memory_limit: 1m, cpu_limit: 1, timeout: 1}");
    file("user.yaml", "sandbox: {memory_limit: 2m, cpu_limit: 2}");
    options_.config = file("named.yaml", "sandbox: {memory_limit: 3m}");
    const Configuration all = must(read_configuration(options_));
    EXPECT_EQ(all.config.memory, 3_MiB);
    EXPECT_EQ(all.config.cpus, Cpus{2000});
    if (::geteuid() == 0) {
        EXPECT_EQ(all.config.wall_time, Duration(1s));
    }
    EXPECT_EQ(all.config.sources.at("cpu_limit"), (dir_ / "user.yaml").string() + ":1");
}

TEST_F(ReadConfiguration, TheUsersFileIsWhereXdgSaysSo) {
    options_.user_config.reset();
    const EnvSetting config("XDG_CONFIG_HOME", dir_.path().string());
    file("coracle/config.yaml", "sandbox: {timeout: 7}");
    EXPECT_EQ(must(read_configuration(options_)).config.wall_time, Duration(7s));
}

TEST_F(ReadConfiguration, CeilingsOutsideOfRootsFileHoldNobodyAndSaySo) {
    file("user.yaml", "sandbox: {resources: {max_memory: 1m}}");
    const Configuration all = must(read_configuration(options_));
    EXPECT_FALSE(all.config.ceilings.memory);
    ASSERT_EQ(all.warnings.size(), 1U);
    EXPECT_THAT(all.warnings[0], HasSubstr("user.yaml"));
    EXPECT_THAT(all.warnings[0], HasSubstr("etc.yaml"));
}

TEST_F(ReadConfiguration, AFileThatOthersCanWriteIsRefused) {
    for (const mode_t mode : {mode_t{0664}, mode_t{0646}}) {
        file("user.yaml", "sandbox: {timeout: 1}", mode);
        const Error error = must_fail(read_configuration(options_));
        EXPECT_EQ(error.code, ErrorCode::denied);
        EXPECT_THAT(error.message, HasSubstr("user.yaml"));
        EXPECT_THAT(error.hint, HasSubstr("chmod"));
    }
}

TEST_F(ReadConfiguration, TheSystemsFileMustBeRootsAndNobodyElsesToWrite) {
    file("etc.yaml", "sandbox: {resources: {max_memory: 1g}}", 0664);
    EXPECT_THAT(must_fail(read_configuration(options_)).message, HasSubstr("etc.yaml"));
    const auto path = file("etc.yaml", "sandbox: {resources: {max_memory: 1g}}");
    if (::geteuid() == 0) {
        EXPECT_EQ(must(read_configuration(options_)).config.ceilings.memory, 1_GiB);
        ASSERT_EQ(::chown(path.c_str(), 1234, 1234), 0);
    }
    EXPECT_THAT(must_fail(read_configuration(options_)).message, HasSubstr("by others than root"));
}

TEST_F(ReadConfiguration, ANamedFileMustBeThereAndRight) {
    options_.config = dir_ / "typo.yaml";
    const Error missing = must_fail(read_configuration(options_));
    EXPECT_EQ(missing.code, ErrorCode::not_found);
    EXPECT_THAT(missing.message, HasSubstr("--config"));
    options_.config = file("bad.yaml", "sandbox:\n  memroy_limit: 1g\n");
    const Error wrong = must_fail(read_configuration(options_));
    EXPECT_THAT(wrong.message, HasSubstr("bad.yaml:2: memroy_limit: unknown key"));
    EXPECT_THAT(wrong.hint, HasSubstr("memory_limit"));
}

TEST_F(ReadConfiguration, AFifoInAFilesPlaceIsNoHang) {
    ASSERT_EQ(::mkfifo((dir_ / "etc.yaml").c_str(), 0644), 0);
    EXPECT_THAT(must_fail(read_configuration(options_)).message, HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace coracle::engine

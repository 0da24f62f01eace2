// The store and the runs are where the options, the environment and the user say, and never in somebody else's hands.
#include "engine/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/volume_facts.hpp"
#include "support/env_setting.hpp"
#include "support/mount_namespace.hpp"
#include "support/test_dir.hpp"
#include "support/unprivileged.hpp"

namespace coracle::engine {
namespace {

namespace fs = std::filesystem;
using test::EnvSetting;
using test::must;
using test::must_fail;
using ::testing::HasSubstr;

class FindPlaces : public ::testing::Test {
protected:
    EngineOptions options(const fs::path& runs) const {
        EngineOptions made;
        made.store = dir_ / "store";
        made.runs = runs;
        return made;
    }
    static mode_t mode_of(const fs::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
    }

    test::TestDir dir_;
};

TEST_F(FindPlaces, TheOptionsWinAndOnlyTheRunsAreMade) {
    const Places places = must(find_places(options(dir_ / "a/b/runs")));
    EXPECT_EQ(places.store, dir_ / "store");
    EXPECT_EQ(places.runs, dir_ / "a/b/runs");
    EXPECT_EQ(mode_of(places.runs), 0711U);
    EXPECT_FALSE(fs::exists(places.store));
    EXPECT_EQ(must(find_places(options(places.runs))).runs, places.runs) << "and may be there already";
}

TEST_F(FindPlaces, AreAbsoluteWithoutDetours) {
    EXPECT_EQ(must(find_places(options(dir_ / "x/../runs/./r"))).runs, dir_ / "runs/r");
    EngineOptions relative = options(dir_ / "runs");
    relative.store = "some/store";
    EXPECT_EQ(must(find_places(relative)).store, fs::current_path() / "some/store");
}

TEST_F(FindPlaces, OfAUserAreWhereXdgSays) {
    const EnvSetting data("XDG_DATA_HOME", dir_ / "data");
    const EnvSetting runtime("XDG_RUNTIME_DIR", dir_ / "runtime");
    const EnvSetting home("HOME", dir_ / "home");
    fs::create_directory(dir_ / "runtime");
    { const test::Unprivileged owner(dir_ / "runtime"); }
    const test::Unprivileged user(dir_.path());
    const Places places = must(find_places({}));
    EXPECT_EQ(places.store, dir_ / "data/coracle");
    EXPECT_EQ(places.runs, dir_ / "runtime/coracle");
    for (const std::optional<std::string>& none :
         {std::optional<std::string>(), std::optional<std::string>("relative")}) {
        const EnvSetting no_data("XDG_DATA_HOME", none);
        EXPECT_EQ(must(find_places({})).store, dir_ / "home/.local/share/coracle");
    }
}

TEST_F(FindPlaces, ARunsFolderThatIsNotPrivateIsDenied) {
    fs::create_directory(dir_ / "open");
    fs::permissions(dir_ / "open", fs::perms(0777));
    fs::create_directory(dir_ / "group");
    fs::permissions(dir_ / "group", fs::perms(0775));
    fs::create_directory(dir_ / "mine");
    fs::create_directory_symlink(dir_ / "mine", dir_ / "link");
    for (const char* name : {"open", "group", "link"}) {
        const Error error = must_fail(find_places(options(dir_ / name)));
        EXPECT_EQ(error.code, ErrorCode::denied) << name;
        EXPECT_THAT(error.message, HasSubstr(name));
        EXPECT_THAT(error.hint, HasSubstr("XDG_RUNTIME_DIR"));
    }
}

TEST_F(FindPlaces, ARunsFolderOfSomebodyElseIsDenied) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make somebody else's";
    fs::create_directory(dir_ / "theirs");
    { const test::Unprivileged somebody(dir_ / "theirs"); }
    EXPECT_EQ(must_fail(find_places(options(dir_ / "theirs"))).code, ErrorCode::denied);
}

TEST_F(FindPlaces, AFileInTheWayIsAnError) {
    dir_.write("file", "");
    EXPECT_THAT(must_fail(find_places(options(dir_ / "file"))).message, HasSubstr("file"));
    EXPECT_THAT(must_fail(find_places(options(dir_ / "file/runs"))).message, HasSubstr("file"));
}

TEST(LookAtVolumes, TellsFilesFromFoldersInTheOrderOfTheRequest) {
    const test::TestDir dir;
    dir.write("file", "");
    fs::create_symlink("file", dir / "link");
    const auto facts = must(look_at_volumes({{.host = dir.path(), .guest = "/a"},
                                             {.host = dir / "file", .guest = "/b"},
                                             {.host = dir / "link", .guest = "/c"}}));
    ASSERT_EQ(facts.size(), 3U);
    EXPECT_TRUE(facts[0].directory);
    EXPECT_FALSE(facts[1].directory);
    EXPECT_FALSE(facts[2].directory);
}

TEST(LookAtVolumes, ReportsTheOptionsOfTheMountThatItLiesOn) {
    const test::TestDir dir;
    const std::vector<std::pair<unsigned long, std::vector<std::string>>> table{
        {0, {}}, {MS_NOSUID | MS_NODEV | MS_NOEXEC, {"nosuid", "nodev", "noexec"}}, {MS_NOEXEC, {"noexec"}}};
    for (const auto& [flags, options] : table) {
        const auto status = test::in_mount_namespace([&, flags = flags, &options = options] {
            if (::mount("tmpfs", dir.path().c_str(), "tmpfs", flags, nullptr) != 0) return 2;
            const auto facts = look_at_volumes({{.host = dir.path(), .guest = "/a"}});
            return facts && facts.value().at(0).locked_options == options ? 0 : 1;
        });
        if (!status) GTEST_SKIP() << "this account may not mount";
        EXPECT_EQ(status, 0) << flags;
    }
}

TEST(LookAtVolumes, NamesTheFlagOfAPathThatIsMissingOrRelative) {
    const Error missing =
        must_fail(look_at_volumes({{.host = "/", .guest = "/a"}, {.host = "/no/such", .guest = "/b"}}));
    EXPECT_EQ(missing.code, ErrorCode::not_found);
    EXPECT_THAT(missing.message, HasSubstr("--volume '/no/such:/b'"));
    EXPECT_THAT(missing.hint, HasSubstr("create the directory"));
    EXPECT_EQ(must_fail(look_at_volumes({{.host = "data", .guest = "/b"}})).code, ErrorCode::invalid_request);
    EXPECT_TRUE(must(look_at_volumes({})).empty());
}

}  // namespace
}  // namespace coracle::engine

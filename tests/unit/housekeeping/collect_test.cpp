// What an image needs stays as long as somebody needs it; everything else goes, and a half-done removal harms nobody.
#include "housekeeping/collect.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "base/files.hpp"
#include "content/paths.hpp"
#include "image/save.hpp"
#include "snapshot/snapshots.hpp"
#include "support/import_kit.hpp"
#include "support/layout_builder.hpp"

namespace coracle::housekeeping {
namespace {

using test::LayoutBuilder;
using test::must;
using test::must_fail;
using test::TarBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Collect : public ::testing::Test {
protected:
    // An image in the store, its layers unpacked.
    image::Image keep(const std::string& name, const std::vector<std::string>& files) {
        LayoutBuilder layout(dir_ / name);
        for (const std::string& file : files) layout.layer(TarBuilder().file(file, file).finish());
        layout.finish(name);
        auto image = must(test::import_images(store_, dir_ / name, {})).at(0);
        (void)must(snapshot::Snapshots(store_).prepare(image, owner_.ownership, {}));
        return image;
    }
    // All that the store holds: blobs, and folders of layers.
    std::vector<std::string> content() {
        std::vector<std::string> paths;
        for (const Item& item : must(take_inventory(store_))) paths.push_back(item.path);
        return paths;
    }
    std::vector<std::string> temporary() {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(store_.root() / "tmp")) {
            if (entry.path().filename() != ".sweep") names.push_back(entry.path().filename());
        }
        return names;
    }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& entry : must(store_.tags())) all.push_back(entry.ref_name);
        return all;
    }
    void used_ago(const image::Image& image, std::chrono::seconds ago) {
        const auto file = store_.root() / content::paths::blob(image.manifest_digest);
        const std::time_t then = std::time(nullptr) - ago.count();
        const std::array<timespec, 2> times{timespec{.tv_sec = then, .tv_nsec = 0},
                                            timespec{.tv_sec = then, .tv_nsec = 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
    }
    RemovalReport collect_all(const GcRequest& request = {}) { return must(collect(store_, owner_, request)); }
    bool is_whole(const std::string& ref) {
        const auto image = image::resolve(store_, ref);
        return image && snapshot::Snapshots(store_).prepare(image.value(), owner_.ownership, {}) &&
               image::save_archive(store_, {image.value()}, [](std::string_view) { return Result<>(); });
    }

    test::TestDir dir_;
    content::Store store_ = must(content::Store::open(dir_ / "store"));
    Owner owner_{.ownership = ::geteuid() == 0 ? plan::Ownership::root : plan::Ownership::single, .maps = {}};
};

TEST_F(Collect, TreesOfLayersThatReachDownAreNeededToo) {
    LayoutBuilder layout(dir_ / "linked");
    layout.layer(TarBuilder().file("low", "shared").finish());
    layout.layer(TarBuilder().hardlink("high", "low").finish());
    layout.finish("linked");
    const auto image = must(test::import_images(store_, dir_ / "linked", {})).at(0);
    const auto before = content();
    const auto alone = content::paths::layer_group(image.config.diff_ids.at(1));
    EXPECT_THAT(before, Not(Contains(alone))) << "it lies under another id";
    EXPECT_THAT(collect_all().removed, IsEmpty());
    EXPECT_EQ(content(), before);
    must(store_.untag(must(store_.tags())));
    (void)collect_all();
    EXPECT_THAT(content(), IsEmpty());
}

TEST_F(Collect, LeavesWhatNamesNeed) {
    keep("one", {"base", "x"});
    const auto before = content();
    EXPECT_THAT(collect_all().removed, IsEmpty());
    EXPECT_EQ(content(), before);
}

TEST_F(Collect, RemovesAllOfAnImageWithItsLastName) {
    const auto image = keep("one", {"a", "b"});
    ASSERT_TRUE(store_.tag("two:latest", must(image::find(store_, "one"))));
    must(remove_names(store_, owner_, {"one"}));
    EXPECT_TRUE(is_whole("two"));
    const auto report = must(remove_names(store_, owner_, {"two"}));
    EXPECT_EQ(report.removed.front().kind, "name");
    EXPECT_EQ(report.removed.front().what, "two");
    EXPECT_THAT(content(), IsEmpty());
    EXPECT_THAT(temporary(), IsEmpty());
}

TEST_F(Collect, KeepsTheLayersThatAnotherImageShares) {
    keep("one", {"base", "x"});
    keep("two", {"base", "y"});
    must(remove_names(store_, owner_, {"one"}));
    EXPECT_TRUE(is_whole("two"));
    EXPECT_EQ(content().size(), 6U);  // manifest, config, two blobs, two trees
}

TEST_F(Collect, TakesAllNamesOfADigest) {
    const auto image = keep("one", {"a"});
    ASSERT_TRUE(store_.tag("two:latest", must(image::find(store_, "one"))));
    EXPECT_EQ(must(remove_names(store_, owner_, {image.manifest_digest.str()})).removed.size(), 6U);
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Collect, ChangesNothingWhereOneNameIsUnknown) {
    keep("one", {"a"});
    EXPECT_EQ(must_fail(remove_names(store_, owner_, {"one", "elephant"})).code, ErrorCode::not_found);
    EXPECT_TRUE(is_whole("one"));
}

TEST_F(Collect, LeavesALeasedImageUntilItsLeaseEnds) {
    keep("one", {"a"});
    {
        const auto in_use = must(image::resolve(store_, "one"));
        const auto report = must(remove_names(store_, owner_, {"one"}));
        EXPECT_THAT(report.in_use, ElementsAre(in_use.manifest_digest.str()));
        EXPECT_TRUE(snapshot::Snapshots(store_).prepare(in_use, owner_.ownership, {}));
        EXPECT_EQ(content().size(), 4U);
        EXPECT_EQ(must_fail(image::resolve(store_, "one")).code, ErrorCode::not_found);
    }
    collect_all();
    EXPECT_THAT(content(), IsEmpty());
}

TEST_F(Collect, WaitsForAnIntakeAndRemovesNothingMeanwhile) {
    const auto image = keep("one", {"a"});
    const auto before = content();
    const auto intake = must(store_.begin_intake());
    EXPECT_EQ(must_fail(store_.begin_removal(std::chrono::milliseconds(30))).code, ErrorCode::unavailable);
    const auto report = must(remove_names(store_, owner_, {"one"}));
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("run: coracle gc")));
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(content(), before);
    EXPECT_TRUE(store_.begin_intake());  // intakes do not exclude each other
}

TEST_F(Collect, DryRunTellsWhatWouldGoAndRemovesNothing) {
    keep("one", {"a"});
    ASSERT_TRUE(store_.write_blob("garbage"));
    const auto before = content();
    const auto told = collect_all({.older_than = {}, .keep_size = Bytes{1}, .dry_run = true}).removed;
    EXPECT_EQ(told.size(), 1 + before.size());  // the name, and everything
    EXPECT_EQ(content(), before);
    EXPECT_THAT(names(), ElementsAre("one:latest"));
    EXPECT_EQ(collect_all({.older_than = {}, .keep_size = Bytes{1}, .dry_run = false}).removed.size(), told.size());
}

TEST_F(Collect, DropsImagesByTheirLastUse) {
    used_ago(keep("old", {"a"}), std::chrono::hours(3));
    used_ago(keep("young", {"b"}), std::chrono::hours(1));
    used_ago(keep("used", {"c"}), std::chrono::hours(3));
    (void)must(image::resolve(store_, "used"));  // a use
    collect_all({.older_than = std::chrono::hours(2), .keep_size = {}, .dry_run = false});
    EXPECT_THAT(names(), ::testing::UnorderedElementsAre("young:latest", "used:latest"));
    EXPECT_TRUE(is_whole("young"));
}

TEST_F(Collect, DropsTheLongestUnusedUntilTheRestFits) {
    used_ago(keep("old", {"a"}), std::chrono::hours(3));
    used_ago(keep("young", {"b"}), std::chrono::hours(1));
    auto items = must(take_inventory(store_));
    ASSERT_TRUE(measure(store_, owner_, items));
    std::uint64_t all = 0;
    for (const Item& item : items) all += item.bytes;
    collect_all({.older_than = {}, .keep_size = Bytes{all}, .dry_run = false});
    EXPECT_EQ(names().size(), 2U);
    collect_all({.older_than = {}, .keep_size = Bytes{all - 1}, .dry_run = false});
    EXPECT_THAT(names(), ElementsAre("young:latest"));
    EXPECT_TRUE(is_whole("young"));
}

TEST_F(Collect, NeverDropsWhatALeaseHolds) {
    const auto image = keep("one", {"a"});
    const auto in_use = must(image::resolve(store_, "one"));
    used_ago(image, std::chrono::hours(3));
    collect_all({.older_than = std::chrono::hours(2), .keep_size = Bytes{1}, .dry_run = false});
    EXPECT_THAT(names(), ElementsAre("one:latest"));
}

TEST_F(Collect, ReportsADamagedImageAndCanRemoveIt) {
    const auto image = keep("one", {"a"});
    std::filesystem::remove(store_.root() / content::paths::blob(image.config_digest));
    EXPECT_THAT(collect_all().warnings, ElementsAre(HasSubstr("image 'one' is damaged")));
    must(remove_names(store_, owner_, {"one"}));
    EXPECT_THAT(content(), IsEmpty());
}

TEST_F(Collect, PassesOverForeignFiles) {
    std::ofstream(store_.root() / "blobs/sha256/README") << "mine";
    std::filesystem::create_directories(store_.root() / "layers/notes");
    collect_all();
    EXPECT_TRUE(std::filesystem::exists(store_.root() / "blobs/sha256/README"));
    EXPECT_TRUE(std::filesystem::exists(store_.root() / "layers/notes"));
}

TEST_F(Collect, RemovesTreesOfAnyDepthAndWithoutPermissions) {
    const std::string hex(64, 'a');
    auto deep = store_.root() / "layers" / hex / "root/fs";
    std::filesystem::create_directories(deep / "locked/inner");
    std::filesystem::permissions(deep / "locked", std::filesystem::perms::owner_read);
    base::UniqueFd at = must(base::open_dir(deep));
    for (int depth = 0; depth < 3000; ++depth) {
        ASSERT_TRUE(base::make_dir_at(at.get(), "d"));
        at = must(base::open_dir_at(at.get(), "d"));
    }
    at.reset();
    const auto report = collect_all();
    ASSERT_EQ(report.removed.size(), 1U);
    EXPECT_GT(report.removed.front().size, 0U);
    EXPECT_THAT(report.warnings, IsEmpty());
    EXPECT_THAT(content(), IsEmpty());
    EXPECT_THAT(temporary(), IsEmpty());
}

TEST_F(Collect, FinishesWhatAKilledRemovalLeft) {
    keep("one", {"a", "b"});
    const auto entry = must(image::find(store_, "one"));
    const auto all = content();
    // Killed after its first step, its second, and in the middle of the third.
    ASSERT_TRUE(store_.untag({entry}));
    std::filesystem::remove(store_.root() / content::paths::blob(entry.digest));
    std::filesystem::remove_all(store_.root() / all.back());
    std::ofstream(store_.root() / "index.json.0123456789ab.tmp") << "half";
    keep("two", {"b", "c"});
    collect_all();
    EXPECT_TRUE(is_whole("two"));
    EXPECT_EQ(content().size(), 6U);
    EXPECT_FALSE(std::filesystem::exists(store_.root() / "index.json.0123456789ab.tmp"));
}

TEST_F(Collect, CountsWhatImagesShareAndWhatIsTheirs) {
    keep("one", {"base", "x"});
    keep("two", {"base", "y"});
    ASSERT_TRUE(store_.write_blob("garbage"));
    const auto usage = must(disk_usage(store_, owner_));
    ASSERT_EQ(usage.images.size(), 2U);
    EXPECT_THAT(usage.images[0].names, ElementsAre("one"));
    EXPECT_EQ(usage.images[0].shared, usage.images[1].shared);
    EXPECT_GT(usage.images[0].shared, 0U);
    EXPECT_EQ(usage.blobs.count, 8U);
    EXPECT_EQ(usage.blobs.unneeded, 7U);
    EXPECT_EQ(usage.total, usage.images[0].own + usage.images[1].own + usage.images[0].shared + 7);
}

TEST_F(Collect, LetsASavedImageComeBackTheSame) {
    const auto image = keep("one", {"a", "b"});
    std::string archive;
    ASSERT_TRUE(image::save_archive(store_, {image}, [&](std::string_view bytes) {
        archive += bytes;
        return Result<>();
    }));
    ASSERT_TRUE(image::save_layout(store_, {image}, dir_ / "saved"));
    EXPECT_FALSE(image::save_layout(store_, {image}, dir_ / "saved"));  // not empty
    must(remove_names(store_, owner_, {"one"}));
    for (const auto& source : {dir_.write("saved.tar", archive), dir_ / "saved"}) {
        const auto back = must(test::import_images(store_, source, {})).at(0);
        EXPECT_EQ(back.ref, "one");
        EXPECT_EQ(back.manifest_digest, image.manifest_digest);
        must(remove_names(store_, owner_, {"one"}));
    }
}

TEST_F(Collect, SavesNothingThatIsDamaged) {
    const auto image = keep("one", {"a"});
    std::ofstream(store_.root() / content::paths::blob(image.layers[0].digest), std::ios::in) << "X";
    EXPECT_EQ(must_fail(image::save_layout(store_, {image}, dir_ / "saved")).code, ErrorCode::corrupt);
    EXPECT_TRUE(std::filesystem::is_empty(dir_ / "saved"));
}

TEST(Names, TheReservedOneIsRefused) {
    const test::TestDir dir;
    const auto store = must(content::Store::open(dir / "store"));
    LayoutBuilder layout(dir / "layout");
    layout.layer(TarBuilder().file("a").finish()).finish("host");
    EXPECT_THAT(must_fail(test::import_images(store, dir / "layout", {})).message,
                HasSubstr("'host' is the reserved name"));
    EXPECT_THAT(must(store.tags()), IsEmpty());
}

}  // namespace
}  // namespace coracle::housekeeping

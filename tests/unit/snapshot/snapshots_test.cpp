// Layers are unpacked once, whole or not at all; flat trees and merged reads see what overlayfs would show.
#include "snapshot/snapshots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "snapshot/read_merged.hpp"
#include "support/import_kit.hpp"
#include "support/layout_builder.hpp"

namespace coracle::snapshot {
namespace {

using test::LayoutBuilder;
using test::must;
using test::must_fail;
using test::read_text;
using test::TarBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Snapshot : public ::testing::Test {
protected:
    image::Image image_of(const std::vector<TarBuilder>& layers) {
        LayoutBuilder layout(dir_ / ("layout" + std::to_string(serial_++)));
        for (const TarBuilder& tar : layers) layout.layer(tar.finish());
        layout.finish("t");
        return must(test::import_images(store_, dir_ / ("layout" + std::to_string(serial_ - 1)))).at(0);
    }
    std::vector<std::filesystem::path> prepare(const image::Image& image) {
        return must(Snapshots(store_).prepare(image, ownership(), {}));
    }
    static plan::Ownership ownership() { return ::geteuid() == 0 ? plan::Ownership::root : plan::Ownership::single; }
    std::filesystem::path flatten(const image::Image& image) {
        const auto target = dir_ / ("flat" + std::to_string(serial_++));
        must(Snapshots(store_).flatten(image, ownership(), {}, target));
        return target;
    }
    std::vector<std::string> scratch() {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(store_.root() / "tmp")) {
            if (entry.path().filename() != ".sweep") names.push_back(entry.path().filename());
        }
        return names;
    }
    std::optional<std::string> read(const image::Image& image, const std::string& path) {
        return must(read_merged(prepare(image), path, 1_MiB));
    }

    test::TestDir dir_;
    content::Store store_ = must(content::Store::open(dir_ / "store"));
    int serial_ = 0;
};

TEST_F(Snapshot, UnpacksEachLayerOnceLowestFirst) {
    const auto image = image_of({TarBuilder().file("a", "1"), TarBuilder().file("b", "2")});
    const auto layers = prepare(image);
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(read_text(layers[0] / "a"), "1");
    EXPECT_EQ(read_text(layers[1] / "b"), "2");
    EXPECT_THAT(scratch(), IsEmpty());
    // Nothing is unpacked a second time: the blobs may even be gone.
    std::filesystem::remove_all(store_.root() / "blobs");
    EXPECT_EQ(prepare(image), layers);
}

TEST_F(Snapshot, SharesLayersBetweenImages) {
    const auto one = image_of({TarBuilder().file("base"), TarBuilder().file("x")});
    const auto two = image_of({TarBuilder().file("base"), TarBuilder().file("y")});
    EXPECT_EQ(prepare(one)[0], prepare(two)[0]);
}

TEST_F(Snapshot, LeavesNothingOfALayerThatIsWrong) {
    LayoutBuilder layout(dir_ / "wrong");
    layout.layer(TarBuilder().file("fine").finish()).layer(TarBuilder().file("a").finish());
    layout.diff_ids[1] = "sha256:" + std::string(64, 'a');
    layout.finish("wrong");
    const Error error = must_fail(test::import_images(store_, dir_ / "wrong"));
    EXPECT_EQ(error.code, ErrorCode::corrupt);
    EXPECT_EQ(error.stage, Stage::unpack);
    EXPECT_THAT(error.message, HasSubstr("layer " + layout.layers[1]["digest"].get<std::string>().substr(7, 12)));
    EXPECT_TRUE(std::filesystem::is_empty(store_.root() / "layers"));
    EXPECT_THAT(scratch(), IsEmpty());
}

TEST_F(Snapshot, LosesNoRaceAgainstItself) {
    TarBuilder tar;
    for (int n = 0; n < 200; ++n) tar.file("f" + std::to_string(n), std::to_string(n));
    const auto image = image_of({tar, TarBuilder().file("top")});
    std::vector<std::thread> threads;
    for (int n = 0; n < 6; ++n) {
        threads.emplace_back([&] {
            const auto layers = prepare(image);
            EXPECT_EQ(read_text(layers.at(0) / "f199"), "199");
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(scratch(), IsEmpty());
}

TEST_F(Snapshot, GivesARepeatedLayerOnceWhereItCounts) {
    const TarBuilder twice = TarBuilder().file("f", "twice");
    const auto layers = prepare(image_of({twice, TarBuilder().file("f", "between"), twice}));
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(read_text(layers[0] / "f"), "between");
    EXPECT_EQ(read_text(layers[1] / "f"), "twice");
}

TEST_F(Snapshot, LeavesOutWhatAnOpaqueRootHides) {
    const auto image = image_of(
        {TarBuilder().file("old"), TarBuilder().file(".wh..wh..opq", "").file("new", "n"), TarBuilder().file("top")});
    EXPECT_EQ(prepare(image).size(), 2U);
    EXPECT_FALSE(read(image, "old"));
    EXPECT_FALSE(std::filesystem::exists(flatten(image) / "old"));
}

TEST_F(Snapshot, RefusesAnImageWithoutLayers) {
    LayoutBuilder(dir_ / "none").finish("t");
    EXPECT_EQ(must_fail(test::import_images(store_, dir_ / "none")).code, ErrorCode::unsupported);
}

TEST_F(Snapshot, FlattensAllLayersIntoANewDirectory) {
    const auto image =
        image_of({TarBuilder().dir("d/").file("d/old").file("gone").file("f", "old"),
                  TarBuilder().file(".wh.gone", "").file(".wh.d", "").dir("d/").file("d/new").file("f", "new")});
    const auto flat = flatten(image);
    EXPECT_FALSE(std::filesystem::exists(flat / "gone"));
    EXPECT_FALSE(std::filesystem::exists(flat / "d/old"));
    EXPECT_TRUE(std::filesystem::exists(flat / "d/new"));
    EXPECT_EQ(read_text(flat / "f"), "new");
    EXPECT_EQ(must_fail(Snapshots(store_).flatten(image, ownership(), {}, flat)).code, ErrorCode::invalid_request);
}

TEST_F(Snapshot, LeavesAFailedFlatTreeEmpty) {
    const auto image = image_of({TarBuilder().file("a"), TarBuilder().file("b")});
    std::filesystem::remove_all(store_.root() / "layers");
    std::filesystem::remove(store_.root() / "blobs/sha256" / image.layers[1].digest.hex());
    EXPECT_FALSE(Snapshots(store_).flatten(image, ownership(), {}, dir_ / "flat"));
    EXPECT_TRUE(std::filesystem::is_empty(dir_ / "flat"));
}

TEST_F(Snapshot, UnpacksLimitsOfItsOwn) {
    const auto image = image_of({TarBuilder().file("a").file("b")});
    std::filesystem::remove_all(store_.root() / "layers");
    EXPECT_THAT(must_fail(Snapshots(store_, {.entries = 1}).prepare(image, ownership(), {})).message,
                HasSubstr("limit of 1"));
}

TEST_F(Snapshot, ReadsTheTopmostFile) {
    const auto image = image_of(
        {TarBuilder().file("etc/passwd", "old").file("etc/group", "g"), TarBuilder().file("etc/passwd", "new")});
    EXPECT_EQ(read(image, "etc/passwd"), "new");
    EXPECT_EQ(read(image, "/etc/group"), "g");
    EXPECT_FALSE(read(image, "etc/shadow"));
    EXPECT_FALSE(read(image, "etc/passwd/x"));
    EXPECT_FALSE(read(image, "no/such"));
}

TEST_F(Snapshot, ReadsNothingThatIsHidden) {
    const auto image =
        image_of({TarBuilder().file("a", "a").file("d/x", "x").file("o/x", "x").file("r/x", "x").file("f/x", "x"),
                  TarBuilder()
                      .file(".wh.a", "")
                      .file(".wh.d", "")
                      .dir("o/")
                      .file("o/.wh..wh..opq", "")
                      .file(".wh.r", "")
                      .file("r/y", "y")
                      .file("f", "file")});
    for (const char* path : {"a", "d/x", "o/x", "r/x", "f/x"}) EXPECT_FALSE(read(image, path)) << path;
    EXPECT_EQ(read(image, "r/y"), "y");
}

TEST_F(Snapshot, FollowsLinksInsideTheImageOnly) {
    dir_.write("host/passwd", "canary");
    const auto image = image_of({TarBuilder()
                                     .file("usr/etc/passwd", "image")
                                     .symlink("abs", "/usr/etc/passwd")
                                     .symlink("etc", "usr/etc")
                                     .symlink("up", "../../../../usr/etc/passwd")
                                     .symlink("loop", "loop")
                                     .symlink("host", (dir_ / "host/passwd").string())});
    EXPECT_EQ(read(image, "abs"), "image");
    EXPECT_EQ(read(image, "etc/passwd"), "image");
    EXPECT_EQ(read(image, "etc/../../up"), "image");
    EXPECT_FALSE(read(image, "host"));
    EXPECT_THAT(must_fail(read_merged(prepare(image), "loop", 1_MiB)).message, HasSubstr("too many symbolic links"));
}

TEST_F(Snapshot, ReadsRegularFilesOnlyAndNotMoreThanTheBound) {
    const auto layers = prepare(image_of({TarBuilder().fifo("fifo").dir("dir/").file("big", std::string(100, 'x'))}));
    EXPECT_THAT(must_fail(read_merged(layers, "fifo", 1_MiB)).message, HasSubstr("not a regular file"));
    EXPECT_THAT(must_fail(read_merged(layers, "dir", 1_MiB)).message, HasSubstr("directory"));
    EXPECT_EQ(must_fail(read_merged(layers, "big", Bytes{99})).code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace coracle::snapshot

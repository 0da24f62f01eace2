// The flat tree is made once and shows what the stack of layers shows.
#include "snapshot/flat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <thread>

#include "snapshot/snapshots.hpp"
#include "support/import_kit.hpp"
#include "support/layout_builder.hpp"
#include "support/mount_namespace.hpp"
#include "support/shown_tree.hpp"

namespace coracle::snapshot {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::must_fail;
using test::TarBuilder;

class Flat : public ::testing::Test {
protected:
    image::Image image_of(const std::vector<TarBuilder>& layers) {
        test::LayoutBuilder layout(dir_ / "layout");
        for (const TarBuilder& tar : layers) layout.layer(tar.finish());
        layout.finish("t");
        return must(test::import_images(store_, dir_ / "layout", {})).at(0);
    }
    fs::path flat(const image::Image& image) { return must(flat_tree(store_, image, ownership(), {})); }
    static plan::Ownership ownership() { return ::geteuid() == 0 ? plan::Ownership::root : plan::Ownership::single; }

    test::TestDir dir_;
    content::Store store_ = must(content::Store::open(dir_ / "store"));
};

TEST_F(Flat, ShowsWhatTheStackedLayersShow) {
    if (::geteuid() != 0) GTEST_SKIP() << "mounting is root's";
    const auto image = image_of({TarBuilder()
                                     .dir("etc/")
                                     .file("etc/a", "1")
                                     .file("etc/b", "2")
                                     .dir("opt/")
                                     .file("opt/old", "old")
                                     .file("gone", "x")
                                     .file("was-file", "x")
                                     .dir("was-dir/")
                                     .file("was-dir/x", "x")
                                     .file("linked", "shared"),
                                 TarBuilder()
                                     .dir("etc/")
                                     .file("etc/a", "3")
                                     .file("etc/.wh.b", "")
                                     .dir("opt/", 0700)
                                     .file("opt/.wh..wh..opq", "")
                                     .file("opt/new", "new")
                                     .file(".wh.gone", "")
                                     .dir("was-file/")
                                     .file("was-dir", "x")
                                     .symlink("link", "etc/a")});
    const auto tree = flat(image);
    const auto layers = must(Snapshots(store_).prepare(image, ownership(), {}));
    fs::create_directories(dir_ / "merged");
    const auto status = test::in_mount_namespace([&] {
        std::string options = "lowerdir=";
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
            options += (layer == layers.rbegin() ? "" : ":") + layer->string();
        }
        if (::mount("overlay", (dir_ / "merged").c_str(), "overlay", MS_RDONLY, options.c_str()) != 0) return 77;
        return test::show_the_same(tree, dir_ / "merged") ? 0 : 1;
    });
    if (!status) GTEST_SKIP() << "no mount namespace or overlayfs here";
    EXPECT_EQ(*status, 0);
    EXPECT_EQ(test::read_text(tree / "etc/a"), "3");
    EXPECT_FALSE(fs::exists(tree / "etc/b"));
}

TEST_F(Flat, IsMadeOnceAndKept) {
    const auto image = image_of({TarBuilder().file("a", "1"), TarBuilder().file("b", "2")});
    const auto tree = flat(image);
    EXPECT_EQ(test::read_text(tree / "b"), "2");
    fs::remove_all(store_.root() / "blobs");
    EXPECT_EQ(flat(image), tree);
}

TEST_F(Flat, OfADamagedLayerLeavesNothing) {
    const auto image = image_of({TarBuilder().file("a", "1")});
    fs::remove_all(store_.root() / "layers");
    const fs::path blob = store_.root() / "blobs/sha256" / std::string(image.layers.at(0).digest.hex());
    std::string bytes = test::read_text(blob);
    bytes[bytes.size() / 2] ^= 1;
    fs::permissions(blob, fs::perms::owner_write, fs::perm_options::add);
    dir_.write("store/blobs/sha256/" + blob.filename().string(), bytes);
    EXPECT_EQ(must_fail(flat_tree(store_, image, ownership(), {})).code, ErrorCode::corrupt);
    EXPECT_FALSE(fs::exists(store_.root() / "flat"));
}

TEST_F(Flat, LosesNoRaceAgainstItself) {
    const auto image = image_of({TarBuilder().file("a", "1")});
    std::vector<std::thread> others;
    for (int n = 0; n < 4; ++n) others.emplace_back([&] { EXPECT_TRUE(flat_tree(store_, image, ownership(), {})); });
    for (std::thread& other : others) other.join();
    EXPECT_EQ(test::read_text(flat(image) / "a"), "1");
}

}  // namespace
}  // namespace coracle::snapshot

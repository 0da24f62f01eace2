// A layer's bytes are read once, and blob and tree appear together or not at all.
#include "snapshot/intake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <atomic>
#include <thread>

#include "snapshot/snapshots.hpp"
#include "support/import_kit.hpp"
#include "support/layout_builder.hpp"

namespace coracle::snapshot {
namespace {

using test::must;
using test::must_fail;
using test::read_text;
using test::TarBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TextSource final : public layer::ByteSource {
public:
    TextSource(std::string text, std::atomic<std::size_t>& handed_out)
        : text_(std::move(text)), handed_out_(handed_out) {}
    Result<std::size_t> read(std::span<char> buffer) override {
        const std::size_t count = std::min(buffer.size(), text_.size() - at_);
        text_.copy(buffer.data(), count, at_);
        at_ += count;
        handed_out_ += count;
        return count;
    }

private:
    std::string text_;
    std::atomic<std::size_t>& handed_out_;
    std::size_t at_ = 0;
};

class IntakeTest : public ::testing::Test {
protected:
    IncomingLayer layer_of(const std::string& tar, const std::string& stored) {
        return {.descriptor = {.media_type = "",
                               .digest = must(content::digest_of(stored)),
                               .size = stored.size(),
                               .platform = {},
                               .ref_name = {},
                               .full_name = {}},
                .diff_id = oci::DiffId{must(content::digest_of(tar))},
                .open = [this, stored]() -> Result<std::unique_ptr<layer::ByteSource>> {
                    ++opened_;
                    return std::unique_ptr<layer::ByteSource>(std::make_unique<TextSource>(stored, handed_out_));
                }};
    }
    IncomingLayer layer_of(const TarBuilder& tar) { return layer_of(tar.finish(), test::gzip(tar.finish())); }
    IntakeOptions options(unsigned parallel = 1) {
        IntakeOptions options;
        options.ownership = test::own();
        options.parallel = parallel;
        return options;
    }
    std::vector<std::string> take(const std::vector<IncomingLayer>& layers, unsigned parallel = 1) {
        Intake intake(store_, options(parallel));
        must(intake.take(layers));
        return intake.warnings();
    }
    Error refuse(const std::vector<IncomingLayer>& layers, unsigned parallel = 1) {
        Intake intake(store_, options(parallel));
        Error error = must_fail(intake.take(layers));
        EXPECT_THAT(scratch(), IsEmpty());
        return error;
    }
    std::vector<std::filesystem::path> stack(const std::vector<IncomingLayer>& layers) {
        return must(Snapshots(store_).prepare(image_of(layers), test::own(), {}));
    }
    std::filesystem::path flat(const std::vector<IncomingLayer>& layers) {
        const auto target = dir_ / ("flat" + std::to_string(serial_++));
        must(Snapshots(store_).flatten(image_of(layers), test::own(), {}, target));
        return target;
    }
    static image::Image image_of(const std::vector<IncomingLayer>& layers) {
        image::Image image{.ref = "t",
                           .manifest_digest = layers.at(0).descriptor.digest,
                           .config_digest = layers.at(0).descriptor.digest,
                           .config = {},
                           .layers = {}};
        for (const auto& layer : layers) {
            image.layers.push_back(layer.descriptor);
            image.config.diff_ids.push_back(layer.diff_id);
        }
        return image;
    }
    std::vector<std::string> scratch() {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(store_.root() / "tmp")) {
            if (entry.path().filename() != ".sweep") names.push_back(entry.path().filename());
        }
        return names;
    }
    static struct stat status_of(const std::filesystem::path& path) {
        struct stat status {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status;
    }

    test::TestDir dir_;
    content::Store store_ = must(content::Store::open(dir_ / "store"));
    std::atomic<int> opened_{0};
    std::atomic<std::size_t> handed_out_{0};
    int serial_ = 0;
};

TEST_F(IntakeTest, ReadsEachByteOnceForBlobAndTree) {
    const auto layer = layer_of(TarBuilder().file("f", "content"));
    take({layer});
    EXPECT_EQ(opened_, 1);
    EXPECT_EQ(handed_out_, layer.descriptor.size);
    EXPECT_TRUE(store_.has(layer.descriptor.digest, layer.descriptor.size));
    EXPECT_EQ(read_text(stack({layer}).at(0) / "f"), "content");
    EXPECT_THAT(scratch(), IsEmpty());
}

TEST_F(IntakeTest, DoesNotOpenWhatIsThere) {
    const auto below = layer_of(TarBuilder().file("a"));
    take({below});
    take({below, layer_of(TarBuilder().file("b"))});
    EXPECT_EQ(opened_, 2);
    take({below, below, below});
    EXPECT_EQ(opened_, 2);
}

TEST_F(IntakeTest, TakesABlobAgainThatIsGoneAndProvesItAgain) {
    const auto layer = layer_of(TarBuilder().file("a"));
    take({layer});
    std::filesystem::remove_all(store_.root() / "blobs/sha256");
    std::filesystem::create_directory(store_.root() / "blobs/sha256");
    take({layer});
    EXPECT_TRUE(store_.has(layer.descriptor.digest, layer.descriptor.size));
    std::filesystem::remove(store_.root() / "blobs/sha256" / layer.descriptor.digest.hex());
    auto lie = layer;
    lie.open = layer_of(TarBuilder().file("other")).open;
    refuse({lie});
    EXPECT_FALSE(store_.has(layer.descriptor.digest, layer.descriptor.size));
}

TEST_F(IntakeTest, LeavesNothingOfAWrongLayerWhateverIsWrong) {
    const std::string tar = TarBuilder().file("a").finish();
    for (const unsigned parallel : {1U, 3U}) {
        auto wrong_diff_id = layer_of(tar, test::gzip(tar));
        wrong_diff_id.diff_id = oci::DiffId{must(content::digest_of("other"))};
        EXPECT_THAT(refuse({wrong_diff_id}, parallel).message, HasSubstr("diff_id"));
        auto wrong_digest = layer_of(tar, test::gzip(tar));
        wrong_digest.descriptor.digest = must(content::digest_of("other"));
        EXPECT_THAT(refuse({wrong_digest}, parallel).message, HasSubstr("digest"));
        for (const int off : {-1, 1}) {
            auto wrong_size = layer_of(tar, tar);
            wrong_size.descriptor.size += static_cast<std::uint64_t>(off);
            EXPECT_EQ(refuse({wrong_size}, parallel).code, ErrorCode::corrupt);
        }
        EXPECT_TRUE(std::filesystem::is_empty(store_.root() / "layers"));
        EXPECT_TRUE(std::filesystem::is_empty(store_.root() / "blobs/sha256"));
    }
}

TEST_F(IntakeTest, TellsTheLayerAtFaultAmongManyAtOnce) {
    std::vector<IncomingLayer> layers;
    for (int n = 0; n < 20; ++n) layers.push_back(layer_of(TarBuilder().file("f" + std::to_string(n))));
    layers[7].diff_id = oci::DiffId{must(content::digest_of("other"))};
    const Error error = refuse(layers, 4);
    EXPECT_THAT(error.message, HasSubstr("layer " + layers[7].descriptor.digest.short_hex() + ": its diff_id"));
    EXPECT_TRUE(std::filesystem::is_empty(store_.root() / "layers"));
}

TEST_F(IntakeTest, SeveralAtOnceDoTheWorkOnce) {
    TarBuilder tar;
    for (int n = 0; n < 300; ++n) tar.file("f" + std::to_string(n), std::string(1000, 'x'));
    const std::vector<IncomingLayer> layers{layer_of(tar), layer_of(TarBuilder().file("top"))};
    std::vector<std::thread> callers;
    for (int n = 0; n < 5; ++n) callers.emplace_back([&] { take(layers, 2); });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(opened_, 2);
    EXPECT_THAT(scratch(), IsEmpty());
}

TEST_F(IntakeTest, PipelinedOrNotTheTreeIsTheSame) {
    TarBuilder tar;
    for (int n = 0; n < 50; ++n)
        tar.file("f" + std::to_string(n), std::string(50'000, static_cast<char>('a' + n % 26)));
    const auto layer = layer_of(tar);
    take({layer}, 2);
    EXPECT_EQ(read_text(stack({layer}).at(0) / "f49"), std::string(50'000, 'x'));
}

TEST_F(IntakeTest, WarnsOfDevices) {
    const auto warnings = take({layer_of(TarBuilder().device("dev/sda", '4', 8, 0))});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr("'dev/sda'"));
}

TEST_F(IntakeTest, AHardLinkToALowerFileIsACopyOfIt) {
    const auto below = layer_of(
        TarBuilder().dir("d/").file("d/f", "lower", {.mode = 0751, .mtime = 1'600'000'000}).symlink("l", "d/f"));
    const auto above = layer_of(TarBuilder().hardlink("one", "d/f").hardlink("two", "d/f").hardlink("link", "l"));
    take({below, above});
    const auto layers = stack({below, above});
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(read_text(layers[1] / "one"), "lower");
    EXPECT_EQ(status_of(layers[1] / "one").st_mode & 07777U, 0751U);
    EXPECT_EQ(status_of(layers[1] / "one").st_mtim.tv_sec, 1'600'000'000);
    EXPECT_EQ(status_of(layers[1] / "one").st_ino, status_of(layers[1] / "two").st_ino);
    EXPECT_EQ(std::filesystem::read_symlink(layers[1] / "link"), "d/f");
    const auto tree = flat({below, above});
    EXPECT_EQ(status_of(tree / "one").st_nlink, 2U);
    EXPECT_EQ(read_text(tree / "two"), "lower");
}

TEST_F(IntakeTest, ALayerThatReachesDownIsAnotherOneAboveOtherLayers) {
    const auto above = layer_of(TarBuilder().hardlink("h", "f"));
    const auto one = layer_of(TarBuilder().file("f", "one"));
    const auto two = layer_of(TarBuilder().file("f", "two"));
    take({one, above});
    take({two, above});
    EXPECT_EQ(read_text(stack({one, above}).at(1) / "h"), "one");
    EXPECT_EQ(read_text(stack({two, above}).at(1) / "h"), "two");
    EXPECT_EQ(opened_, 3) << "the second time from the store";
    EXPECT_THAT(refuse({layer_of(TarBuilder().file("other")), above}).message, HasSubstr("or those below it"));
    EXPECT_THAT(refuse({layer_of(TarBuilder().hardlink("x", "f"))}).message, HasSubstr("it is the lowest"));
}

TEST_F(IntakeTest, AHardLinkSeesWhatTheLayersBelowShow) {
    const auto bottom = layer_of(TarBuilder().file("f", "old").file("gone", "g").dir("d/").file("d/f", "d"));
    const auto middle = layer_of(TarBuilder().file("f", "new").file(".wh.gone", "").file("d/.wh..wh..opq", ""));
    const auto top = layer_of(TarBuilder().hardlink("h", "f"));
    take({bottom, middle, top}, 3);
    EXPECT_EQ(read_text(flat({bottom, middle, top}) / "h"), "new");
    EXPECT_THAT(refuse({bottom, middle, layer_of(TarBuilder().hardlink("h", "gone"))}).message,
                HasSubstr("no such file"));
    EXPECT_THAT(refuse({bottom, middle, layer_of(TarBuilder().hardlink("h", "d/f"))}).message,
                HasSubstr("no such file"));
    EXPECT_THAT(refuse({bottom, middle, layer_of(TarBuilder().hardlink("h", "d"))}).message, HasSubstr("a directory"));
}

TEST_F(IntakeTest, AReplacedHardLinkIsNotFilled) {
    const auto below = layer_of(TarBuilder().file("f", "lower"));
    const auto above = layer_of(TarBuilder().hardlink("a", "f").hardlink("b", "a").file("a", "own"));
    take({below, above});
    const auto tree = flat({below, above});
    EXPECT_EQ(read_text(tree / "a"), "own");
    EXPECT_EQ(read_text(tree / "b"), "lower");
}

TEST_F(IntakeTest, ADirectoryWithoutAnEntryLooksAsItDoesBelow) {
    const auto below = layer_of(TarBuilder().dir("tmp/", 01777).dir("d/", 0700));
    const auto above = layer_of(TarBuilder().file("tmp/f").file("d/new/f"));
    take({below, above});
    for (const auto& tree : {stack({below, above}).at(1), flat({below, above})}) {
        EXPECT_EQ(status_of(tree / "tmp").st_mode & 07777U, 01777U);
        EXPECT_EQ(status_of(tree / "tmp").st_mtim.tv_sec, 1'700'000'000);
        EXPECT_EQ(status_of(tree / "d").st_mode & 07777U, 0700U);
        EXPECT_EQ(status_of(tree / "d/new").st_mode & 07777U, 0755U);
    }
}

TEST_F(IntakeTest, AnEntryBelowALowerLinkTakesItsPlaceInBothForms) {
    const auto below = layer_of(TarBuilder().dir("usr/").dir("usr/lib/").file("usr/lib/a").symlink("lib", "usr/lib"));
    const auto above = layer_of(TarBuilder().file("lib/b"));
    take({below, above});
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::symlink_status(flat({below, above}) / "lib")));
    EXPECT_TRUE(std::filesystem::exists(stack({below, above}).at(1) / "lib/b"));
    // A link of the layer itself is followed inside the root, also to a directory that only lower layers have.
    const auto own = layer_of(TarBuilder().symlink("l", "/usr/lib").file("l/c"));
    take({below, own});
    const auto tree = flat({below, own});
    EXPECT_TRUE(std::filesystem::exists(tree / "usr/lib/c"));
    EXPECT_TRUE(std::filesystem::exists(tree / "usr/lib/a"));
}

TEST_F(IntakeTest, AnImageHasBoundsOfItsOwn) {
    const std::vector<IncomingLayer> layers{layer_of(TarBuilder().file("a", "12345")),
                                            layer_of(TarBuilder().file("b", "12345"))};
    IntakeOptions entries = options();
    entries.limits.image_entries = 1;
    EXPECT_THAT(must_fail(Intake(store_, entries).take(layers)).message, HasSubstr("images.max_image_entries"));
    IntakeOptions bytes = options();
    bytes.limits.image_unpacked = Bytes{9};
    EXPECT_THAT(must_fail(Intake(store_, bytes).take(layers)).message, HasSubstr("images.max_image_unpacked"));
}

TEST_F(IntakeTest, AMillionLinksCopyAFileOnce) {
    const auto below = layer_of(TarBuilder().file("big", std::string(10'000, 'b')));
    TarBuilder links;
    for (int n = 0; n < 1000; ++n) links.hardlink("h" + std::to_string(n), "big");
    const auto above = layer_of(links);
    IntakeOptions tight = options();
    tight.limits.unpacked = Bytes{10'000};
    must(Intake(store_, tight).take({below, above}));
    EXPECT_EQ(status_of(stack({below, above}).at(1) / "h0").st_nlink, 1000U);
}

TEST_F(IntakeTest, TakesALayerThatNothingIsKnownOf) {
    const std::string tar = TarBuilder().file("f", "x").finish();
    Intake intake(store_, options(2));
    const auto taken = must(intake.take_unnamed(layer_of(tar, test::gzip(tar)).open, tar.size()));
    EXPECT_EQ(taken.diff_id.digest, must(content::digest_of(tar)));
    EXPECT_EQ(taken.blob.digest, must(content::digest_of(test::gzip(tar))));
    EXPECT_TRUE(store_.has(taken.blob.digest, taken.blob.size));
}

}  // namespace
}  // namespace coracle::snapshot

// Every form of an image comes in under its name, and a wrong one leaves nothing named.
#include "importer/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "oci/media_type.hpp"
#include "oci/platform.hpp"
#include "support/import_kit.hpp"
#include "support/layout_builder.hpp"

namespace coracle::importer {
namespace {

using image::Image;
using image::list;
using image::resolve;
using test::import_images;
using test::LayoutBuilder;
using test::must;
using test::must_fail;
using test::TarBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string tar_a = TarBuilder().file("a", "a").finish();
const std::string tar_b = TarBuilder().file("b", "b").finish();

class Import : public ::testing::Test {
protected:
    std::vector<std::string> names(const std::filesystem::path& source, std::optional<std::string> tag = {}) {
        std::vector<std::string> refs;
        for (const Image& image : must(import_images(store_, source, tag))) refs.push_back(image.ref);
        return refs;
    }
    Error refuse(const std::filesystem::path& source) {
        Error error = must_fail(import_images(store_, source, {}));
        EXPECT_THAT(must(store_.tags()), IsEmpty());
        return error;
    }
    LayoutBuilder layout(const std::string& name = "layout") { return LayoutBuilder(dir_ / name); }
    // A layout's files as one archive, links as links.
    std::string packed(const std::string& name = "layout") {
        TarBuilder tar;
        const auto root = dir_ / name;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
            const std::string path = std::filesystem::relative(entry.path(), root).string();
            if (entry.is_regular_file()) tar.file(path, test::read_text(entry.path()));
        }
        return tar.finish();
    }
    // docker save as Docker before 25 writes it.
    TarBuilder docker_archive(const std::string& manifest) {
        const oci::Json config = {
            {"os", "linux"},
            {"architecture", "amd64"},
            {"rootfs", {{"type", "layers"}, {"diff_ids", {test::sha256(tar_a), test::sha256(tar_b)}}}}};
        return TarBuilder()
            .dir("la/")
            .file("la/layer.tar", tar_a)
            .dir("lb/")
            .file("lb/layer.tar", tar_b)
            .file("c.json", config.dump())
            .file("manifest.json", manifest);
    }

    test::TestDir dir_;
    content::Store store_ = must(content::Store::open(dir_ / "store"));
};

TEST_F(Import, TakesAnOciLayoutUnderItsName) {
    layout().layer(tar_a).layer(tar_b).finish("team/app:1");
    const Image image = must(import_images(store_, dir_ / "layout")).at(0);
    EXPECT_EQ(image.ref, "team/app:1");
    EXPECT_EQ(image.layers.size(), 2U);
    EXPECT_EQ(image.config.diff_ids.at(1).digest.str(), test::sha256(tar_b));
    EXPECT_GT(image.size, image.layers.at(0).size + image.layers.at(1).size);
    EXPECT_EQ(must(resolve(store_, "team/app:1")).manifest_digest, image.manifest_digest);
}

TEST_F(Import, NamesByTagOrSourceOrFileName) {
    layout("My Layout").layer(tar_a).finish("");
    EXPECT_THAT(names(dir_ / "My Layout"), ElementsAre("my-layout"));
    EXPECT_THAT(names(dir_ / "My Layout/"), ElementsAre("my-layout"));
    EXPECT_THAT(names(dir_ / "My Layout", "other:2"), ElementsAre("other:2"));
    layout("second").layer(tar_a).finish("latest");
    EXPECT_THAT(names(dir_ / "second"), ElementsAre("second"));
}

TEST_F(Import, RefusesABadTagAndOneTagForSeveralImages) {
    auto one = layout().layer(tar_a);
    const auto first = test::named(one.manifest(), "one");
    auto two = layout().layer(tar_b);
    two.finish_with({first, test::named(two.manifest(), "two")});
    EXPECT_THAT(names(dir_ / "layout"), ElementsAre("one", "two"));
    EXPECT_EQ(must_fail(import_images(store_, dir_ / "layout", "x")).code, ErrorCode::invalid_request);
    EXPECT_EQ(must_fail(import_images(store_, dir_ / "layout", "Not A Name")).code, ErrorCode::invalid_request);
}

TEST_F(Import, TakesAnOciArchivePlainAndCompressed) {
    layout().layer(tar_a).finish("app");
    const std::string tar = packed();
    EXPECT_THAT(names(dir_.write("plain.tar", tar)), ElementsAre("app"));
    EXPECT_THAT(names(dir_.write("gz.tar", test::gzip(tar))), ElementsAre("app"));
    EXPECT_THAT(names(dir_.write("zstd", test::zstd(tar))), ElementsAre("app"));
    EXPECT_THAT(names(dir_.write("xz", test::xz(tar))), ElementsAre("app"));
}

TEST_F(Import, TakesALayoutWithoutMarkerWhoseBlobsAreLinksInside) {
    auto builder = layout();
    builder.layer(tar_a).finish("app");
    std::filesystem::remove(dir_ / "layout/oci-layout");
    const auto blob = builder.blob_path(builder.layers.at(0));
    std::filesystem::rename(blob, dir_ / "layout/rootfs.tar.gz");
    std::filesystem::create_symlink("../../rootfs.tar.gz", blob);
    EXPECT_THAT(names(dir_ / "layout"), ElementsAre("app"));
}

TEST_F(Import, NeverReadsThroughALinkThatLeadsOut) {
    auto builder = layout();
    builder.layer(tar_a).finish("app");
    const auto blob = builder.blob_path(builder.layers.at(0));
    std::filesystem::rename(blob, dir_ / "outside");
    std::filesystem::create_symlink(dir_ / "outside", blob);
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("leads out of the source"));
}

TEST_F(Import, IsNotHeldUpByAFifo) {
    auto builder = layout();
    builder.layer(tar_a).finish("app");
    const auto blob = builder.blob_path(builder.layers.at(0));
    std::filesystem::remove(blob);
    ASSERT_EQ(::mkfifo(blob.c_str(), 0600), 0);
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("not a regular file"));
    ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(refuse(dir_ / "fifo").code, ErrorCode::invalid_request);
}

TEST_F(Import, FindsBlobsThatAreNotWhatTheirNameSays) {
    auto builder = layout();
    builder.layer(tar_a).finish("app");
    const auto blob = builder.blob_path(builder.layers.at(0));
    std::string bytes = test::read_text(blob);
    bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 1);
    std::ofstream(blob, std::ios::binary) << bytes;
    EXPECT_EQ(refuse(dir_ / "layout").code, ErrorCode::corrupt);
    std::ofstream(blob, std::ios::binary) << "short";
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("its descriptor says"));
    std::filesystem::remove(blob);
    EXPECT_EQ(refuse(dir_ / "layout").code, ErrorCode::not_found);
}

TEST_F(Import, WantsOneDiffIdForEachLayer) {
    auto builder = layout();
    builder.layer(tar_a).layer(tar_b);
    builder.diff_ids.pop_back();
    builder.finish("app");
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("1 diff_ids, the manifest 2 layers"));
}

TEST_F(Import, ChoosesThisMachinesImageInNestedIndexes) {
    const oci::Platform here = oci::this_platform();
    const auto for_platform = [](oci::Json descriptor, const std::string& architecture) {
        descriptor["platform"] = {{"os", "linux"}, {"architecture", architecture}};
        return descriptor;
    };
    auto own = layout().layer(tar_a);
    const auto own_manifest = for_platform(own.manifest(), here.architecture);
    auto other = layout().layer(tar_b);
    const auto other_manifest = for_platform(other.manifest(), "other");
    const std::string type(oci::media_type::index);
    auto index =
        own.blob(oci::Json({{"schemaVersion", 2}, {"manifests", {other_manifest, own_manifest}}}).dump(), type);
    for (int depth = 0; depth < 3; ++depth) {
        own.finish_with(oci::Json::array({test::named(index, "app")}));
        EXPECT_EQ(must(import_images(store_, dir_ / "layout")).at(0).config.diff_ids.at(0).digest.str(),
                  test::sha256(tar_a));
        index = own.blob(oci::Json({{"schemaVersion", 2}, {"manifests", oci::Json::array({index})}}).dump(), type);
    }
    index = own.blob(oci::Json({{"schemaVersion", 2}, {"manifests", oci::Json::array({index})}}).dump(), type);
    own.finish_with(oci::Json::array({test::named(index, "deep")}));
    EXPECT_THAT(must_fail(import_images(store_, dir_ / "layout", {})).message, HasSubstr("images.max_index_depth"));
}

TEST_F(Import, PassesOverArtifactsBesideImages) {
    auto builder = layout().layer(tar_a);
    auto chart = builder.blob(oci::Json({{"schemaVersion", 2},
                                         {"config", builder.blob("{}", "application/vnd.cncf.helm.config.v1+json")},
                                         {"layers", oci::Json::array()}})
                                  .dump(),
                              std::string(oci::media_type::manifest));
    builder.finish_with({test::named(chart, "chart"), test::named(builder.manifest(), "app")});
    EXPECT_THAT(names(dir_ / "layout"), ElementsAre("app"));
}

TEST_F(Import, RefusesALayoutOfAnotherVersionAndAnEmptyOne) {
    layout().layer(tar_a).finish("app");
    layout().put("oci-layout", R"({"imageLayoutVersion": "2.0.0"})");
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("2.0.0"));
    layout().put("oci-layout", R"({"imageLayoutVersion": "1.0.0"})");
    layout().put("index.json", R"({"schemaVersion": 2, "manifests": null})");
    EXPECT_THAT(refuse(dir_ / "layout").message, HasSubstr("lists no image"));
}

TEST_F(Import, TakesADockerArchiveWithAllItsTags) {
    const std::string manifest =
        R"([{"Config":"c.json","RepoTags":["demo:1","demo:latest"],"Layers":["la/layer.tar","lb/layer.tar"]}])";
    const std::string tar = docker_archive(manifest).finish();
    EXPECT_THAT(names(dir_.write("saved.tar", tar)), ElementsAre("demo:1", "demo"));
    EXPECT_THAT(names(dir_.write("saved.tar.gz", test::gzip(tar))), ElementsAre("demo:1", "demo"));
    const Image image = must(resolve(store_, "demo"));
    EXPECT_EQ(image.layers.at(0).digest.str(), test::sha256(tar_a));
    EXPECT_EQ(image.layers.at(0).media_type, oci::media_type::layer);
}

TEST_F(Import, TakesDockersNewFormAndNamelessImages) {
    auto builder = layout();
    builder.layer_as(tar_a, tar_a, std::string(oci::media_type::layer)).finish("1");
    const oci::Json manifest = oci::Json::parse(test::read_text(builder.blob_path(builder.manifest())));
    const auto file = [](const oci::Json& descriptor) {
        return "blobs/sha256/" + descriptor["digest"].get<std::string>().substr(7);
    };
    builder.put(
        "manifest.json",
        oci::Json::array(
            {{{"Config", file(manifest["config"])}, {"RepoTags", nullptr}, {"Layers", {file(manifest["layers"][0])}}}})
            .dump());
    EXPECT_THAT(names(dir_.write("web.tar", packed())), ElementsAre("web"));
    std::filesystem::remove_all(store_.root() / file(manifest["layers"][0]));  // what is there is not read again
    builder.put(file(manifest["layers"][0]), tar_b);
    EXPECT_THAT(must_fail(import_images(store_, dir_.write("web.tar", packed()))).message, HasSubstr("its diff_id is"));
}

TEST_F(Import, FollowsLinksBetweenLayersOfADockerArchive) {
    const std::string manifest =
        R"([{"Config":"c.json","RepoTags":["demo:1"],"Layers":["la/layer.tar","lx/layer.tar"]}])";
    auto tar = docker_archive(manifest).symlink("lx/layer.tar", "../lb/layer.tar");
    EXPECT_THAT(names(dir_.write("saved.tar", tar.finish())), ElementsAre("demo:1"));
}

TEST_F(Import, FindsNothingOutsideOfADockerArchive) {
    const auto outside = dir_.write("outside.tar", tar_a);
    for (const std::string& layer : {outside.string(), "../../../../../../.." + outside.string(),
                                     std::string("lx/layer.tar"), std::string("no")}) {
        const oci::Json manifest =
            oci::Json::array({{{"Config", "c.json"}, {"RepoTags", {"d:1"}}, {"Layers", {layer, "lb/layer.tar"}}}});
        const auto tar = docker_archive(manifest.dump()).symlink("lx/layer.tar", outside.string());
        EXPECT_EQ(refuse(dir_.write("saved.tar", tar.finish())).code, ErrorCode::not_found) << layer;
    }
}

TEST_F(Import, RefusesOldArchivesWithAWayOut) {
    const auto tar = TarBuilder().file("la/layer.tar", tar_a).file("la/json", "{}").file("repositories", "{}");
    const Error error = refuse(dir_.write("old.tar", tar.finish()));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.hint, HasSubstr("save it again"));
}

TEST_F(Import, TakesARootfsTarInAnyCompression) {
    for (const auto& [stored, type] :
         {std::pair(tar_a, oci::media_type::layer), std::pair(test::gzip(tar_a), oci::media_type::layer_gzip),
          std::pair(test::zstd(tar_a), oci::media_type::layer_zstd),
          std::pair(test::xz(tar_a), oci::media_type::layer)}) {
        const Image image = must(import_images(store_, dir_.write("root.tar.gz", stored))).at(0);
        EXPECT_EQ(image.ref, "root");
        EXPECT_EQ(image.layers.at(0).media_type, type);
        EXPECT_EQ(image.config.diff_ids.at(0).digest.str(), test::sha256(tar_a));
        EXPECT_EQ(image.config.architecture, oci::this_platform().architecture);
    }
}

TEST_F(Import, TakesARootfsDirectoryTheSameEachTime) {
    dir_.write("rootfs/bin/sh", "#!");
    dir_.write("rootfs/etc/passwd", "root:x:0:0::/:/bin/sh\n");
    std::filesystem::create_symlink("sh", dir_ / "rootfs/bin/ash");
    std::filesystem::create_hard_link(dir_ / "rootfs/bin/sh", dir_ / "rootfs/bin/dash");
    const Image once = must(import_images(store_, dir_ / "rootfs")).at(0);
    const Image again = must(import_images(store_, dir_ / "rootfs", "again")).at(0);
    EXPECT_EQ(once.ref, "rootfs");
    EXPECT_EQ(once.manifest_digest, again.manifest_digest);
}

TEST_F(Import, SaysWhatItTakesWhenTheSourceIsNothingOfTheKind) {
    EXPECT_THAT(refuse(dir_.write("text", std::string(5000, 't'))).hint, HasSubstr("OCI layouts"));
    EXPECT_EQ(refuse(dir_ / "nothing").code, ErrorCode::not_found);
    EXPECT_EQ(refuse(dir_.write("empty", "")).code, ErrorCode::corrupt);
}

TEST_F(Import, ResolvesByTheEndOfANameByDigestAndNotByLess) {
    layout().layer(tar_a).finish("localhost/team/app:1");
    const Image image = must(import_images(store_, dir_ / "layout")).at(0);
    EXPECT_TRUE(resolve(store_, "app:1"));
    EXPECT_TRUE(resolve(store_, "team/app:1"));
    EXPECT_TRUE(resolve(store_, image.manifest_digest.str()));
    EXPECT_TRUE(resolve(store_, "app@" + image.manifest_digest.str()));
    EXPECT_FALSE(resolve(store_, "app"));
    EXPECT_FALSE(resolve(store_, "pp:1"));
    must(import_images(store_, dir_ / "layout", "other/app:1"));
    EXPECT_EQ(must_fail(resolve(store_, "app:1")).code, ErrorCode::invalid_request) << "could be either";
}

TEST_F(Import, AnUnknownNameGetsTheNearOnes) {
    EXPECT_THAT(must_fail(resolve(store_, "busybox")).hint, HasSubstr("coracle import SOURCE --tag busybox"));
    layout().layer(tar_a).finish("busybox");
    must(import_images(store_, dir_ / "layout"));
    const Error error = must_fail(resolve(store_, "busbox"));
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_EQ(error.stage, Stage::resolve);
    EXPECT_THAT(error.hint, HasSubstr("'busybox'"));
}

TEST_F(Import, ListsWhatIsThereAndLeavesOutWhatIsDamaged) {
    layout().layer(tar_a).finish("one");
    must(import_images(store_, dir_ / "layout"));
    layout("more").layer(tar_b).finish("two");
    const Image damaged = must(import_images(store_, dir_ / "more")).at(0);
    std::filesystem::remove(store_.root() / "blobs/sha256" / damaged.config_digest.hex());
    const auto images = must(list(store_));
    ASSERT_EQ(images.size(), 1U);
    EXPECT_EQ(images[0].ref, "one");
    EXPECT_FALSE(resolve(store_, "two"));
}

}  // namespace
}  // namespace coracle::importer

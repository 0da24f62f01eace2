// What is read from manifests, indexes and configs, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oci/image_config.hpp"
#include "oci/image_index.hpp"
#include "oci/manifest.hpp"
#include "support/test_dir.hpp"

namespace coracle::oci {
namespace {

using test::must;
using test::must_fail;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string hex(64, 'a');

std::string descriptor(const std::string& media_type, const std::string& more = "") {
    return R"({"mediaType":")" + media_type + R"(","digest":"sha256:)" + hex + R"(","size":12)" + more + "}";
}

const std::string oci_config = descriptor("application/vnd.oci.image.config.v1+json");
const std::string oci_layer = descriptor("application/vnd.oci.image.layer.v1.tar+gzip");

std::string manifest(const std::string& config, const std::string& layers, const std::string& more = "") {
    return R"({"schemaVersion":2,"config":)" + config + R"(,"layers":)" + layers + more + "}";
}

TEST(ParseManifest, ReadsOciAndDockerMediaTypesAlike) {
    EXPECT_EQ(must(parse_manifest(manifest(oci_config, "[" + oci_layer + "]"))).layers.size(), 1U);
    const auto docker = descriptor("application/vnd.docker.container.image.v1+json");
    const auto docker_layer = descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip");
    const auto parsed = must(parse_manifest(manifest(docker, "[" + docker_layer + "]")));
    EXPECT_EQ(parsed.layers.at(0).size, 12U);
    EXPECT_EQ(parsed.config.digest.hex(), hex);
}

TEST(ParseManifest, RefusesWhatCouldBeReadAsAnIndex) {
    const auto error = must_fail(parse_manifest(manifest(oci_config, "[]", R"(,"manifests":[])")));
    EXPECT_EQ(error.code, ErrorCode::corrupt);
}

TEST(ParseManifest, RefusesSchema1WithAWayOut) {
    const auto error = must_fail(parse_manifest(R"({"schemaVersion":1,"fsLayers":[]})"));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.hint, HasSubstr("copy the image"));
}

TEST(ParseManifest, RefusesWhatIsNoImageAndNamesIt) {
    const auto error =
        must_fail(parse_manifest(manifest(descriptor("application/vnd.cncf.helm.config.v1+json"), "[]")));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("helm"));
}

TEST(ParseManifest, RefusesWrongTypesAndSizes) {
    for (const std::string& layers : {std::string(R"({"0":"x"})"), std::string(R"("none")"), std::string("[7]"),
                                      std::string(R"([{"digest":"sha256:)" + hex + R"(","size":-1}])"),
                                      std::string(R"([{"digest":"sha256:)" + hex + R"(","size":"12"}])"),
                                      std::string(R"([{"digest":"sha256:../../etc/passwd","size":12}])")}) {
        EXPECT_EQ(must_fail(parse_manifest(manifest(oci_config, layers))).code, ErrorCode::corrupt) << layers;
    }
}

TEST(ParseManifest, RefusesMoreLayersThanOverlayfsStacks) {
    std::string layers = oci_layer;
    for (std::size_t n = 0; n < max_layers; ++n) layers += "," + oci_layer;
    EXPECT_THAT(must_fail(parse_manifest(manifest(oci_config, "[" + layers + "]"))).message, HasSubstr("limit of 500"));
}

TEST(ParseManifest, ReadsItsOwnDocument) {
    const auto once = must(parse_manifest(manifest(oci_config, "[" + oci_layer + "]")));
    const auto again = must(parse_manifest(to_document(once)));
    EXPECT_EQ(again.config.digest, once.config.digest);
    EXPECT_EQ(to_document(again), to_document(once));
}

TEST(ParseJson, RefusesBytesAfterTheDocument) { EXPECT_FALSE(parse_json("{} garbage", "x")); }

TEST(ParseJson, RefusesDeepNestingWithoutWalkingIt) {
    EXPECT_THAT(must_fail(parse_json(std::string(200'000, '[') + std::string(200'000, ']'), "x")).message,
                HasSubstr("nested deeper than 64"));
    EXPECT_TRUE(parse_json(R"({"brackets in a string": "[[[[\"[[[["})", "x"));
}

TEST(ParseJson, RefusesDocumentsOverTheBound) {
    EXPECT_THAT(must_fail(parse_json(std::string(max_document.count + 1, ' '), "x")).message,
                HasSubstr("larger than 4m"));
}

TEST(ParseImageConfig, ReadsWhatStartsAProgramAndTheLayers) {
    const auto config = must(parse_image_config(R"({"os":"linux","architecture":"amd64","config":{"User":"app",
        "Env":["A=b"],"Entrypoint":["/e"],"Cmd":["c"],"WorkingDir":"/w","StopSignal":"SIGINT","NewThing":[null]},
        "rootfs":{"type":"layers","diff_ids":["sha256:)" +
                                                hex + R"("]}})"));
    EXPECT_EQ(config.user, "app");
    EXPECT_THAT(config.env, ElementsAre("A=b"));
    EXPECT_THAT(config.entrypoint, ElementsAre("/e"));
    EXPECT_THAT(config.cmd, ElementsAre("c"));
    EXPECT_EQ(config.working_dir, "/w");
    EXPECT_EQ(config.stop_signal, "SIGINT");
    EXPECT_EQ(config.diff_ids.at(0).digest.hex(), hex);
}

TEST(ParseImageConfig, TakesDockersNullsAsAbsent) {
    const auto config = must(parse_image_config(
        R"({"config":{"Cmd":null,"Env":null,"Entrypoint":null,"Volumes":null},"rootfs":{"diff_ids":[]}})"));
    EXPECT_TRUE(config.cmd.empty());
    EXPECT_FALSE(config.stop_signal.has_value());
}

TEST(ParseImageConfig, RefusesWrongTypesAndNulBytes) {
    for (const char* process :
         {R"({"Env":"A=b"})", R"({"Cmd":"ls -l"})", R"({"User":0})", R"({"Env":["A=x\u0000y"]})", "[]"}) {
        const std::string text = std::string(R"({"config":)") + process + R"(,"rootfs":{"diff_ids":[]}})";
        EXPECT_EQ(must_fail(parse_image_config(text)).code, ErrorCode::corrupt) << process;
    }
    EXPECT_FALSE(parse_image_config(R"({"config":{}})")) << "rootfs is missing";
    EXPECT_FALSE(parse_image_config(""));
}

std::string entry(const std::string& os, const std::string& architecture, const std::string& more = "") {
    return descriptor("application/vnd.oci.image.manifest.v1+json",
                      R"(,"platform":{"os":")" + os + R"(","architecture":")" + architecture + "\"}" + more);
}

ImageIndex index_of(const std::vector<std::string>& entries) {
    std::string list;
    for (const std::string& text : entries) list += (list.empty() ? "" : ",") + text;
    return must(parse_image_index(R"({"schemaVersion":2,"manifests":[)" + list + "]}"));
}

TEST(ChoosePlatform, PassesOverAttestationsAndOtherMachines) {
    const auto attestation =
        entry("unknown", "unknown", R"(,"annotations":{"vnd.docker.reference.type":"attestation-manifest"})");
    const auto index =
        index_of({attestation, entry("linux", "arm64"), entry("windows", "amd64"), entry("linux", "amd64")});
    EXPECT_EQ(must(choose(index, Platform{"linux", "amd64", ""})).platform->os, "linux");
    EXPECT_EQ(must(choose(index, Platform{"linux", "amd64", ""})).platform->architecture, "amd64");
}

TEST(ChoosePlatform, ListsWhatThereIsWhenNothingFits) {
    const auto error = must_fail(choose(index_of({entry("linux", "s390x")}), Platform{"linux", "amd64", ""}));
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("linux/s390x"));
}

TEST(ChoosePlatform, TakesTheBestVariantTheMachineCanRun) {
    EXPECT_EQ(fitness({"linux", "arm", "v8"}, {"linux", "arm", "v7"}), 0);
    EXPECT_GT(fitness({"linux", "arm", "v7"}, {"linux", "arm", "v7"}),
              fitness({"linux", "arm", "v6"}, {"linux", "arm", "v7"}));
    EXPECT_GT(fitness({"linux", "amd64", "v1"}, {"linux", "amd64", ""}), 0);
    EXPECT_EQ(fitness({"linux", "amd64", "v3"}, {"linux", "amd64", ""}), 0);
}

TEST(ChoosePlatform, TakesAnEntryWithoutPlatformWhereNothingElseFits) {
    const auto bare = descriptor("application/vnd.oci.image.manifest.v1+json");
    EXPECT_FALSE(must(choose(index_of({entry("linux", "s390x"), bare}), Platform{"linux", "amd64", ""})).platform);
    EXPECT_TRUE(must(choose(index_of({bare, entry("linux", "amd64")}), Platform{"linux", "amd64", ""})).platform);
}

TEST(ParseImageIndex, TakesANullListAsEmpty) {
    EXPECT_TRUE(must(parse_image_index(R"({"schemaVersion":2,"manifests":null})")).manifests.empty());
}

}  // namespace
}  // namespace coracle::oci

// Implements the building of OCI image layouts.
#include "support/layout_builder.hpp"

#include "content/hasher.hpp"
#include "oci/media_type.hpp"

namespace coracle::test {

std::string sha256(const std::string& data) { return must(content::digest_of(data)).str(); }

void LayoutBuilder::put(const std::string& name, const std::string& text) const {
    const auto file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

std::filesystem::path LayoutBuilder::blob_path(const oci::Json& descriptor) const {
    std::string name = descriptor["digest"].get<std::string>();
    name.replace(name.find(':'), 1, "/");
    return root_ / "blobs" / name;
}

oci::Json LayoutBuilder::blob(const std::string& data, const std::string& media_type) const {
    const std::string digest = sha256(data);
    put("blobs/sha256/" + digest.substr(7), data);
    return {{"mediaType", media_type}, {"digest", digest}, {"size", data.size()}};
}

LayoutBuilder& LayoutBuilder::layer(const std::string& tar) {
    return layer_as(tar, gzip(tar), std::string(oci::media_type::layer_gzip));
}

LayoutBuilder& LayoutBuilder::layer_as(const std::string& tar, const std::string& stored,
                                       const std::string& media_type) {
    layers.push_back(blob(stored, media_type));
    diff_ids.push_back(sha256(tar));
    return *this;
}

oci::Json LayoutBuilder::config() const {
    return {{"os", "linux"},
            {"architecture", architecture},
            {"config", process},
            {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids}}}};
}

oci::Json LayoutBuilder::manifest() const {
    const oci::Json document = {{"schemaVersion", 2},
                                {"mediaType", oci::media_type::manifest},
                                {"config", blob(config().dump(), std::string(oci::media_type::config))},
                                {"layers", layers}};
    return blob(document.dump(), std::string(oci::media_type::manifest));
}

void LayoutBuilder::finish(const std::string& name) const { finish_with(oci::Json::array({named(manifest(), name)})); }

void LayoutBuilder::finish_with(const oci::Json& entries) const {
    put("index.json", oci::Json({{"schemaVersion", 2}, {"manifests", entries}}).dump());
    put("oci-layout", R"({"imageLayoutVersion": "1.0.0"})");
}

oci::Json named(oci::Json descriptor, const std::string& name) {
    if (!name.empty()) descriptor["annotations"][oci::ref_name_key] = name;
    return descriptor;
}

}  // namespace coracle::test

// Builds OCI image layouts on disk; every part can be replaced by a wrong one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oci/json.hpp"
#include "oci/manifest.hpp"
#include "support/tar_builder.hpp"
#include "support/test_dir.hpp"

namespace coracle::test {

std::string sha256(const std::string& data);  // "sha256:..."

class LayoutBuilder {
public:
    explicit LayoutBuilder(std::filesystem::path root) : root_(std::move(root)) {}

    // A file below the layout.
    void put(const std::string& name, const std::string& text) const;
    oci::Json blob(const std::string& data, const std::string& media_type) const;

    LayoutBuilder& layer(const std::string& tar);  // stored gzipped
    LayoutBuilder& layer_as(const std::string& tar, const std::string& stored, const std::string& media_type);
    oci::Json config() const;
    oci::Json manifest() const;                        // a descriptor; the blobs are written
    void finish(const std::string& name = "t") const;  // index.json and oci-layout
    void finish_with(const oci::Json& entries) const;

    std::filesystem::path blob_path(const oci::Json& descriptor) const;

    std::vector<oci::Json> layers;
    std::vector<std::string> diff_ids;
    oci::Json process = {{"Cmd", {"/bin/sh"}}};
    std::string architecture = "amd64";

private:
    std::filesystem::path root_;
};

oci::Json named(oci::Json descriptor, const std::string& name);

}  // namespace coracle::test

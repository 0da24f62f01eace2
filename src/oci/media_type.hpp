// The media types of OCI and of Docker schema 2, told apart by what they mean: coracle treats both families alike.
#pragma once

#include <string_view>

namespace coracle::oci {

enum class MediaKind { index, manifest, config, layer, other };

MediaKind media_kind(std::string_view media_type);

namespace media_type {
inline constexpr std::string_view index = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view manifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view config = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view layer = "application/vnd.oci.image.layer.v1.tar";
inline constexpr std::string_view layer_gzip = "application/vnd.oci.image.layer.v1.tar+gzip";
inline constexpr std::string_view layer_zstd = "application/vnd.oci.image.layer.v1.tar+zstd";
}  // namespace media_type

}  // namespace coracle::oci

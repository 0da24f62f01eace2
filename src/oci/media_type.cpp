// Implements the table of media types.
#include "oci/media_type.hpp"

#include <array>

namespace coracle::oci {

namespace {

struct Row {
    std::string_view name;
    MediaKind kind;
};

// "nondistributable" and "foreign" layers are ordinary layers once their blob is here.
constexpr std::array rows{
    Row{media_type::index, MediaKind::index},
    Row{"application/vnd.docker.distribution.manifest.list.v2+json", MediaKind::index},
    Row{media_type::manifest, MediaKind::manifest},
    Row{"application/vnd.docker.distribution.manifest.v2+json", MediaKind::manifest},
    Row{media_type::config, MediaKind::config},
    Row{"application/vnd.docker.container.image.v1+json", MediaKind::config},
    Row{media_type::layer, MediaKind::layer},
    Row{media_type::layer_gzip, MediaKind::layer},
    Row{media_type::layer_zstd, MediaKind::layer},
    Row{"application/vnd.oci.image.layer.nondistributable.v1.tar", MediaKind::layer},
    Row{"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", MediaKind::layer},
    Row{"application/vnd.oci.image.layer.nondistributable.v1.tar+zstd", MediaKind::layer},
    Row{"application/vnd.docker.image.rootfs.diff.tar", MediaKind::layer},
    Row{"application/vnd.docker.image.rootfs.diff.tar.gzip", MediaKind::layer},
    Row{"application/vnd.docker.image.rootfs.diff.tar.zstd", MediaKind::layer},
    Row{"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", MediaKind::layer},
};

}  // namespace

MediaKind media_kind(std::string_view media_type) {
    for (const Row& row : rows) {
        if (row.name == media_type) return row.kind;
    }
    return MediaKind::other;
}

}  // namespace coracle::oci

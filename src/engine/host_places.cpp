// Implements the look at the host's paths.
#include "engine/host_places.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "content/store.hpp"
#include "engine/volume_facts.hpp"
#include "oci/reference.hpp"
#include "plan/host_image.hpp"

namespace coracle::engine {

namespace {

std::optional<plan::HostPlace> look_at_place(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
    plan::HostPlace place{.path = path, .kind = plan::HostPlace::Kind::file, .target = {}, .locked_options = {}};
    if (S_ISLNK(status.st_mode)) {
        std::array<char, 4097> target{};
        if (::readlink(path.c_str(), target.data(), target.size() - 1) < 0) return std::nullopt;
        place.kind = plan::HostPlace::Kind::link;
        place.target = target.data();
        return place;
    }
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return std::nullopt;
    if (S_ISDIR(status.st_mode)) place.kind = plan::HostPlace::Kind::directory;
    place.locked_options = locked_options_at(path);
    return place;
}

}  // namespace

std::vector<plan::HostPlace> look_at_host_places() {
    std::vector<plan::HostPlace> places;
    for (const char* path : plan::host_image_paths()) {
        if (auto place = look_at_place(path)) places.push_back(std::move(*place));
    }
    return places;
}

bool is_host_image(std::string_view ref) {
    const auto reference = oci::parse_reference(ref);
    return reference && !reference.value().digest && reference.value().str() == content::reserved_name;
}

}  // namespace coracle::engine

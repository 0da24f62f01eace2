// Implements the look at the host side of volumes.
#include "engine/volume_facts.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "base/try.hpp"

namespace coracle::engine {

namespace {

Result<plan::VolumeFacts> look_at(const Volume& volume) {
    const std::string context = "--volume '" + volume.host + ":" + volume.guest + "'";
    if (!volume.host.starts_with('/')) {
        return make_error(ErrorCode::invalid_request, context + ": the host's path must be absolute");
    }
    struct stat status {};
    if (::stat(volume.host.c_str(), &status) != 0) {
        Error error = os_error(context, errno);
        return std::move(error).with_hint("create the directory on the host first");
    }
    return plan::VolumeFacts{.directory = S_ISDIR(status.st_mode), .locked_options = locked_options_at(volume.host)};
}

}  // namespace

std::vector<std::string> locked_options_at(const std::string& path) {
    std::vector<std::string> options;
    struct statvfs mount {};
    if (::statvfs(path.c_str(), &mount) != 0) return options;
    if ((mount.f_flag & ST_NOSUID) != 0) options.emplace_back("nosuid");
    if ((mount.f_flag & ST_NODEV) != 0) options.emplace_back("nodev");
    if ((mount.f_flag & ST_NOEXEC) != 0) options.emplace_back("noexec");
    return options;
}

Result<std::vector<plan::VolumeFacts>> look_at_volumes(const std::vector<Volume>& volumes) {
    std::vector<plan::VolumeFacts> all;
    for (const Volume& volume : volumes) {
        TRY(plan::VolumeFacts facts, look_at(volume));
        all.push_back(std::move(facts));
    }
    return all;
}

}  // namespace coracle::engine

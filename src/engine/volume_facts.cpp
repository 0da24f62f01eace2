// Implements the look at volumes and disks.
#include "engine/volume_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "base/files.hpp"
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

// Rates hold for whole disks only: a partition's numbers are those of the directory above its own in sysfs.
std::string disk_of(dev_t device) {
    const std::string numbers = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    const std::string entry = "/sys/dev/block/" + numbers;
    if (!base::exists_at(AT_FDCWD, entry + "/partition")) return numbers;
    auto disk = base::read_file(entry + "/../dev", Bytes{64});
    if (!disk) return numbers;
    return disk.value().substr(0, disk.value().find('\n'));
}

bool is_numbers(const std::string& device) {
    const std::size_t colon = device.find(':');
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    return colon != std::string::npos && digits(std::string_view(device).substr(0, colon)) &&
           digits(std::string_view(device).substr(colon + 1));
}

}  // namespace

Result<std::vector<std::string>> look_at_devices(const std::vector<IoMax>& rates) {
    std::vector<std::string> devices;
    for (const IoMax& each : rates) {
        if (is_numbers(each.device)) {
            devices.push_back(each.device);
            continue;
        }
        struct stat status {};
        if (::stat(each.device.c_str(), &status) != 0) {
            return os_error("--io-max '" + each.device + "'", errno).with_hint("name a disk, or a directory on it");
        }
        const dev_t device = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
        // Major 0: memory, a network, an overlay; nothing that has rates (admin-guide/devices.txt).
        if (major(device) == 0) {
            return make_error(ErrorCode::invalid_request, "--io-max '" + each.device + "': it does not lie on a disk",
                              "name a disk, such as /dev/sda, or a directory on it");
        }
        devices.push_back(disk_of(device));
    }
    return devices;
}

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

// Implements the union by bind mounts.
#include "runtime/keeper/union.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::runtime::keeper {

namespace {

Result<struct stat> status_of(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return os_error("stat '" + path + "'", errno);
    return status;
}

// The places of each name, topmost first.
Result<std::map<std::string, std::vector<std::string>>> names_in(const std::vector<std::string>& sources) {
    std::map<std::string, std::vector<std::string>> places;
    for (const std::string& source : sources) {
        TRY(const base::UniqueFd dir, base::open_dir(source));
        TRY(const auto names, base::list_dir(dir.get()));
        for (const std::string& name : names) places[name].push_back(source + "/" + name);
    }
    return places;
}

// A file hides what lies below it, and a directory below a file is hidden with it.
Result<std::vector<std::string>> leading_directories(const std::vector<std::string>& places) {
    std::vector<std::string> directories;
    for (const std::string& place : places) {
        TRY(const struct stat status, status_of(place));
        if (!S_ISDIR(status.st_mode)) break;
        directories.push_back(place);
    }
    return directories;
}

Result<> take_attributes(const std::string& target, const struct stat& status) {
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    if (::lchown(target.c_str(), status.st_uid, status.st_gid) == 0 &&
        (S_ISLNK(status.st_mode) || ::chmod(target.c_str(), status.st_mode & 07777U) == 0) &&
        ::utimensat(AT_FDCWD, target.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0) {
        return {};
    }
    return os_error("set owner, mode and time of '" + target + "'", errno);
}

Result<> bind(const std::string& source, const std::string& target) {
    if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) {
        return os_error("bind '" + source + "' on '" + target + "'", errno);
    }
    return make_read_only(target);
}

Result<> copy_link(const std::string& source, const std::string& target, const struct stat& status) {
    std::array<char, 4097> text{};
    if (::readlink(source.c_str(), text.data(), text.size() - 1) < 0)
        return os_error("read link '" + source + "'", errno);
    if (::symlink(text.data(), target.c_str()) != 0) return os_error("create link '" + target + "'", errno);
    return take_attributes(target, status);
}

// `places` are those of one name; the topmost decides what it is.
Result<> unite_name(const std::string& target, const std::vector<std::string>& places) {
    TRY(const struct stat status, status_of(places.front()));
    if (S_ISLNK(status.st_mode)) return copy_link(places.front(), target, status);
    if (!S_ISDIR(status.st_mode)) {
        TRY_OK(base::write_new_file_at(AT_FDCWD, target, ""));
        return bind(places.front(), target);
    }
    TRY(const auto directories, leading_directories(places));
    TRY_OK(base::make_dir_at(AT_FDCWD, target));
    return directories.size() == 1 ? bind(directories.front(), target) : unite(target, directories);
}

}  // namespace

Result<> unite(const std::string& target, const std::vector<std::string>& sources) {
    TRY(const auto names, names_in(sources));
    for (const auto& [name, places] : names) TRY_OK(unite_name(target + "/" + name, places));
    TRY(const struct stat status, status_of(sources.front()));
    return take_attributes(target, status);
}

Result<> make_read_only(const std::string& mount) {
    // In a user namespace the flags of the source are locked and must be repeated (mount(2), EPERM).
    struct statvfs status {};
    if (::statvfs(mount.c_str(), &status) != 0) return os_error("statvfs '" + mount + "'", errno);
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NODEV | MS_NOSUID;
    if ((status.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
    if (::mount(nullptr, mount.c_str(), nullptr, flags, nullptr) == 0) return {};
    return os_error("make '" + mount + "' read-only", errno);
}

}  // namespace coracle::runtime::keeper

// Files and directories below a directory descriptor: open, read with a bound, write whole, make, remove.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::base {

// Paths given with a directory descriptor are relative to it; messages name the path as given.

Result<UniqueFd> open_dir(const std::filesystem::path& path);
Result<UniqueFd> open_dir_at(int dir_fd, const std::string& name);
Result<UniqueFd> open_file_at(int dir_fd, const std::string& name, int flags, mode_t mode = 0);

// Resolves `path` as a process would whose root is `root_fd`: symbolic links and ".." stay inside (openat2
// RESOLVE_IN_ROOT|RESOLVE_NO_MAGICLINKS).
Result<UniqueFd> open_in_root(int root_fd, const std::string& path, int flags, mode_t mode = 0);

// Opens a regular file for reading and nothing else: a FIFO or device in its place is an error and never blocks
// (O_NONBLOCK, then fstat). Symbolic links are followed.
Result<UniqueFd> open_regular_at(int dir_fd, const std::string& name);

// Whole content. More than `bound` bytes is an Error (corrupt), never a partial text.
Result<std::string> read_all(int fd, Bytes bound, std::string_view what);
Result<std::string> read_file_at(int dir_fd, const std::string& name, Bytes bound);
Result<std::string> read_file(const std::filesystem::path& path, Bytes bound);

// Loops over short writes and EINTR.
Result<> write_all(int fd, std::string_view data, std::string_view what);
// Fails with EEXIST when the name is taken.
Result<> write_new_file_at(int dir_fd, const std::string& name, std::string_view data, mode_t mode = 0644);
// One write(2) to a file that is there: kernel files in /proc and /sys/fs/cgroup take a value whole or not at all.
Result<> write_value_at(int dir_fd, const std::string& name, std::string_view value);
// Under a temporary name, optionally fsynced, then renamed over `name`: readers see the old text or the new one.
enum class Durability { cache, disk };
Result<> replace_file_at(int dir_fd, const std::string& name, std::string_view data, Durability durability,
                         mode_t mode = 0644);

// mkdir -p; existing directories are left as they are.
Result<> make_dirs(const std::filesystem::path& path, mode_t mode = 0755);
Result<> make_dir_at(int dir_fd, const std::string& name, mode_t mode = 0755);  // existing: fine

// Removes `name` below `dir_fd` and all that is under it: never follows a link, never leaves the file system that
// `name` is on, needs no recursion depth, and opens directories that lack permission bits. A missing name is success.
Result<> remove_tree_at(int dir_fd, const std::string& name);

// Names in a directory, without "." and "..", unsorted.
Result<std::vector<std::string>> list_dir(int dir_fd);
bool exists_at(int dir_fd, const std::string& name);  // does not follow a final link

// `count` random bytes from getrandom(2), in lower-case hex.
std::string random_hex(std::size_t count);

}  // namespace coracle::base

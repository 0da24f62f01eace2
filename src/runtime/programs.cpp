// Implements the installation of keeper and init from the bytes that the build embedded.
#include "runtime/programs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/try.hpp"

// Defined by programs.S, which the build generates.
extern "C" {
extern const char coracle_init_begin[];
extern const char coracle_init_end[];
extern const char coracle_keeper_begin[];
extern const char coracle_keeper_end[];
extern const char coracle_programs_hash[];
}

namespace coracle::runtime {

namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

Result<> write_programs(int dir_fd, const std::string& name) {
    TRY_OK(base::make_dir_at(dir_fd, name));
    TRY(const base::UniqueFd folder, base::open_dir_at(dir_fd, name));
    TRY_OK(base::make_dir_at(folder.get(), "layer"));
    TRY_OK(base::write_new_file_at(folder.get(), "coracle-keeper", between(coracle_keeper_begin, coracle_keeper_end),
                                   0755));
    return base::write_new_file_at(folder.get(), "layer/.coracle-init", between(coracle_init_begin, coracle_init_end),
                                   0755);
}

bool is_whole(const std::filesystem::path& file, std::string_view bytes) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) == bytes.size();
}

}  // namespace

Result<Programs> install_programs(const std::filesystem::path& store) {
    const std::filesystem::path parent = store / "programs";
    const std::filesystem::path folder = parent / coracle_programs_hash;
    Programs programs{.keeper = folder / "coracle-keeper", .init_layer = folder / "layer"};
    const bool there = is_whole(programs.keeper, between(coracle_keeper_begin, coracle_keeper_end)) &&
                       is_whole(programs.init_layer / ".coracle-init", between(coracle_init_begin, coracle_init_end));
    if (there) return programs;

    TRY_OK(base::make_dirs(parent));
    TRY(const base::UniqueFd parent_fd, base::open_dir(parent));
    const std::string temporary = ".tmp-" + base::random_hex(6);
    auto written = write_programs(parent_fd.get(), temporary);
    if (written && ::renameat(parent_fd.get(), temporary.c_str(), parent_fd.get(), coracle_programs_hash) == 0) {
        return programs;
    }
    const int cause = errno;
    (void)base::remove_tree_at(parent_fd.get(), temporary);
    TRY_OK(std::move(written).within("install the helper programs in '" + parent.string() + "'"));
    if (cause == EEXIST || cause == ENOTEMPTY) return programs;  // another process was faster
    return os_error("install the helper programs in '" + folder.string() + "'", cause);
}

}  // namespace coracle::runtime

// A directory of a test's own, gone with the test.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"

namespace coracle::testing {

class ScratchDir {
public:
    ScratchDir() : path_(std::filesystem::temp_directory_path() / ("coracle-test-" + base::random_hex(8))) {
        std::filesystem::create_directory(path_);
    }
    ~ScratchDir() { (void)base::remove_tree_at(AT_FDCWD, path_.string()); }
    ScratchDir(const ScratchDir&) = delete;
    ScratchDir& operator=(const ScratchDir&) = delete;

    const std::filesystem::path& path() const { return path_; }
    base::UniqueFd open() const { return base::open_dir(path_).value(); }

private:
    std::filesystem::path path_;
};

}  // namespace coracle::testing

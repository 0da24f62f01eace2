// What a tree shows, file by file, to compare two trees.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "support/test_dir.hpp"

namespace coracle::test {

// Path -> mode, owner, time, and the content or the target of a link.
inline std::map<std::string, std::string> shown(const std::filesystem::path& root) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        struct stat status {};
        ::lstat(entry.path().c_str(), &status);
        std::string text = std::to_string(status.st_mode) + " " + std::to_string(status.st_uid) + ":" +
                           std::to_string(status.st_gid) + " " + std::to_string(status.st_mtim.tv_sec) + " ";
        if (entry.is_symlink()) {
            text += std::filesystem::read_symlink(entry.path()).string();
        } else if (entry.is_regular_file()) {
            text += read_text(entry.path());
        }
        all[entry.path().lexically_relative(root).string()] = text;
    }
    return all;
}

// Whether both show the same; says on stderr where they do not.
inline bool show_the_same(const std::filesystem::path& one, const std::filesystem::path& other) {
    auto left = shown(one);
    auto right = shown(other);
    for (const auto& [path, text] : left) {
        if (right[path] != text) std::cerr << path << ": '" << text << "' but '" << right[path] << "'\n";
    }
    for (const auto& [path, text] : right) {
        if (!left.contains(path)) std::cerr << path << ": missing but '" << text << "'\n";
    }
    return left == right;
}

}  // namespace coracle::test

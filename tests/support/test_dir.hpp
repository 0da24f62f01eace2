// A directory for one test: made below the system's temporary folder, removed with all that is in it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace coracle::test {

class TestDir {
public:
    TestDir() : path_(std::filesystem::temp_directory_path() / ("coracle-test-" + base::random_hex(8))) {
        std::filesystem::create_directories(path_);
    }
    TestDir(const TestDir&) = delete;
    TestDir& operator=(const TestDir&) = delete;
    ~TestDir() { (void)base::remove_tree_at(AT_FDCWD, path_.string()); }

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

    std::filesystem::path write(const std::string& name, std::string_view text) const {
        const auto file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

private:
    std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

// The value of a Result, or the test ends with its message.
template <class T>
T must(Result<T> result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!result) {
        ADD_FAILURE_AT(file, line) << result.error().message;
        throw std::runtime_error(result.error().message);
    }
    return std::move(result).value();
}

// The Error of a Result, or the test ends because there is none.
template <class T>
Error must_fail(Result<T> result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (result) {
        ADD_FAILURE_AT(file, line) << "succeeded, an Error was expected";
        throw std::runtime_error("no Error");
    }
    return std::move(result).error();
}

}  // namespace coracle::test

// What tests of files need: a directory with content, and the value or the Error of a Result.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "coracle/error.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::test {

class TestDir {
public:
    const std::filesystem::path& path() const { return dir_.path(); }
    std::filesystem::path operator/(std::string_view name) const { return path() / name; }

    std::filesystem::path write(const std::string& name, std::string_view text) const {
        const auto file = path() / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

private:
    testing::ScratchDir dir_;
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

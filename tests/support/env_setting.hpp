// An environment variable for the length of a test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace coracle::test {

class EnvSetting {
public:
    EnvSetting(const char* name, const std::optional<std::string>& value) : name_(name) {
        if (const char* const old = std::getenv(name)) old_ = old;
        set(value);
    }
    ~EnvSetting() { set(old_); }
    EnvSetting(const EnvSetting&) = delete;
    EnvSetting& operator=(const EnvSetting&) = delete;

private:
    void set(const std::optional<std::string>& value) {
        value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
    }
    const char* name_;
    std::optional<std::string> old_;
};

}  // namespace coracle::test

// Packs values into bytes and reads them back: the language between coracle, its keeper and its init.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace coracle::base {

// Both ends are this build on this machine: native byte order, lengths before texts.
class WireWriter {
public:
    WireWriter& number(std::uint64_t value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    WireWriter& text(std::string_view value) {
        number(value.size());
        bytes_.append(value);
        return *this;
    }
    WireWriter& texts(const std::vector<std::string>& values) {
        number(values.size());
        for (const std::string& value : values) text(value);
        return *this;
    }
    std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Reading past the end yields zeros and empty texts and makes good() false: check once, after the last value.
class WireReader {
public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (rest_.size() < sizeof value) {
            fail();
            return 0;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (size > rest_.size()) {
            fail();
            return {};
        }
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return value;
    }
    std::vector<std::string> texts() {
        std::vector<std::string> values;
        for (std::uint64_t left = number(); left > 0 && good_; --left) values.push_back(text());
        return values;
    }
    bool good() const { return good_; }

private:
    void fail() {
        good_ = false;
        rest_ = {};
    }
    std::string_view rest_;
    bool good_ = true;
};

}  // namespace coracle::base

// A YAML document as a plain value that remembers its lines; the place where yaml-cpp's exceptions end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::policy {

struct YamlMember;

struct YamlValue {
    enum class Kind { null, scalar, list, map } kind = Kind::null;
    std::string scalar;
    std::vector<YamlValue> list;
    std::vector<YamlMember> map;  // in the order of the text, no key twice
    int line = 0;                 // 1 is the first
};

struct YamlMember {
    std::string key;
    YamlValue value;
};

// Error: invalid_request, "line 3: ..."; also for texts above 1 MiB, 10,000 values or 32 levels.
Result<YamlValue> parse_yaml(const std::string& text);

}  // namespace coracle::policy

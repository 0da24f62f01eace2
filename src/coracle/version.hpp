// The version of this library and program.
#pragma once

#include <string_view>

namespace coracle {

inline constexpr std::string_view version = "0.1.0";

}  // namespace coracle

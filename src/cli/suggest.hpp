// Finds the word that somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace coracle::cli {

// "did you mean '--memory'?", or an empty text where nothing is near enough.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace coracle::cli

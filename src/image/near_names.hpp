// Finds the names that somebody may have meant.
#pragma once

#include <string>
#include <vector>

namespace coracle::image {

// At most five of `names`, nearest first, as "'a', 'b'"; all of them count as near where there are so few.
std::string near_names(const std::string& wanted, std::vector<std::string> names);

}  // namespace coracle::image

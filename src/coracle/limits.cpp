// Prints the rates of a block device.
#include "coracle/limits.hpp"

namespace coracle {

std::string to_string(const IoMax& rates) {
    std::string words;
    const auto add = [&words](const char* name, const std::optional<std::uint64_t>& value) {
        if (value) words += (words.empty() ? "" : ",") + std::string(name) + "=" + std::to_string(*value);
    };
    add("rbps", rates.rbps);
    add("wbps", rates.wbps);
    add("riops", rates.riops);
    add("wiops", rates.wiops);
    return words;
}

}  // namespace coracle

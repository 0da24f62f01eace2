// What runc or crun said when it failed, as one line for people.
#pragma once

#include <string>
#include <string_view>

namespace coracle::runtime {

// `log` is what --log-format json wrote, one object a line; `error_text` its stderr, used where the log says nothing.
std::string runtime_words(std::string_view log, std::string_view error_text);

}  // namespace coracle::runtime

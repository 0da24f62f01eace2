// The version of an OCI runtime, asked once and kept in the store: the question costs as much as a third of a run.
#pragma once

#include <filesystem>
#include <string>

namespace coracle::engine {

// The first number in the first line of `<program> --version` ("1.1.5+ds1"), empty where it does not answer within two
// seconds. Kept at STORE/runtimes/<name> as long as the program's size and time stay the same.
std::string runtime_version(const std::filesystem::path& store, const std::filesystem::path& program);

}  // namespace coracle::engine

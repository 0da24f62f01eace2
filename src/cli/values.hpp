// Parses the values of options that are more than a word: pure functions, each Error names the text and the fix.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/request.hpp"

namespace coracle::cli {

// "HOST:GUEST[:ro|rw]", writable where nothing is said, as Docker has it. The host path is kept as it is written.
Result<Volume> parse_volume(std::string_view text);
// "PATH[:size=64m,noexec]".
Result<Tmpfs> parse_tmpfs(std::string_view text);
// "DEVICE:rbps=1m,wbps=1m,riops=100,wiops=100", at least one of them.
Result<IoMax> parse_io_max(std::string_view text);
Result<NetworkMode> parse_network(std::string_view text);
Result<PullPolicy> parse_pull(std::string_view text);
Result<OutputExcess> parse_output_excess(std::string_view text);
// "TERM", "SIGTERM" or "15".
Result<int> parse_signal(std::string_view text);
Result<std::uint64_t> parse_count(std::string_view text);
// Words between commas, none of them empty.
Result<std::vector<std::string>> parse_list(std::string_view text);
// The limits that --require makes strict.
Result<std::vector<std::string>> parse_required(std::string_view text);
Result<std::string> parse_guest_dir(std::string_view text);

// How a name without a value finds it: the caller's environment.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

// "NAME=value", or "NAME" for the caller's own value. No value: the caller has none either, and Docker leaves it out.
Result<std::optional<EnvVar>> parse_env(std::string_view text, const Lookup& lookup);
// A line each; empty lines and lines that begin with '#' are skipped. Errors name the line.
Result<std::vector<EnvVar>> parse_env_file(std::string_view content, const Lookup& lookup);

}  // namespace coracle::cli

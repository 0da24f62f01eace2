// Reads the counter files of cgroup v2 (cgroup-v2.rst) and v1 (cgroup-v1/*.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coracle::cgroup {

// The first number in a file of the directory: "1048576\n". No value: missing, "max" or not a number.
std::optional<std::uint64_t> read_number(int dir_fd, const std::string& file);
// The number behind `key` in a flat-keyed file: "oom_kill 1".
std::optional<std::uint64_t> read_keyed(int dir_fd, const std::string& file, std::string_view key);
// The sum behind `key=` over all lines of io.stat: "8:0 rbytes=1459200 wbytes=314773504".
std::optional<std::uint64_t> read_io_stat(int dir_fd, std::string_view key);
// The sum over all devices of a direction in blkio.throttle.io_service_bytes: "8:0 Read 1459200".
std::optional<std::uint64_t> read_blkio(int dir_fd, std::string_view direction);

}  // namespace coracle::cgroup

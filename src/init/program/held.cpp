// Implements the look at the own process.
#include "init/program/held.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/files.hpp"

namespace coracle::init {

namespace {

// The number behind `key` in a /proc status text.
std::optional<std::uint64_t> status_field(std::string_view status, std::string_view key, int radix) {
    const std::size_t at = status.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    return std::strtoull(status.data() + at + key.size(), nullptr, radix);
}

std::uint64_t soft_limit(__rlimit_resource resource) {
    rlimit limit{};
    return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::uint64_t visible_cpus() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    return ::sched_getaffinity(0, sizeof mask, &mask) == 0 ? static_cast<std::uint64_t>(CPU_COUNT(&mask)) : 0;
}

Held::Size size_of(const std::string& path) {
    struct statfs info {};
    if (::statfs(path.c_str(), &info) != 0) return {};
    return {.bytes = static_cast<std::uint64_t>(info.f_blocks) * static_cast<std::uint64_t>(info.f_bsize),
            .inodes = static_cast<std::uint64_t>(info.f_files)};
}

}  // namespace

Held read_held(const std::vector<std::string>& measured) {
    Held held;
    for (const std::string& path : measured) held.sizes.push_back(size_of(path));
    held.open_files = soft_limit(RLIMIT_NOFILE);
    held.processes = soft_limit(RLIMIT_NPROC);
    held.file_size = soft_limit(RLIMIT_FSIZE);
    held.stack = soft_limit(RLIMIT_STACK);
    held.cpu = soft_limit(RLIMIT_CPU);
    held.core = soft_limit(RLIMIT_CORE);
    held.cpus = visible_cpus();
    if (const auto status = base::read_file("/proc/self/status", 64_KiB)) {
        held.capabilities = status_field(status.value(), "\nCapEff:\t", 16).value_or(~std::uint64_t{0});
        held.no_new_privileges = static_cast<int>(status_field(status.value(), "\nNoNewPrivs:\t", 10).value_or(0));
        held.seccomp = static_cast<int>(status_field(status.value(), "\nSeccomp:\t", 10).value_or(0));
    }
    for (const char* name : {"mnt", "pid", "net", "ipc", "uts", "user", "cgroup"}) {
        std::array<char, 64> link{};
        const std::string path = std::string("/proc/self/ns/") + name;
        if (::readlink(path.c_str(), link.data(), link.size() - 1) > 0) held.namespaces.emplace_back(link.data());
    }
    return held;
}

}  // namespace coracle::init

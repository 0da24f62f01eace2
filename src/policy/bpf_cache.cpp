// Keeps compiled seccomp programs in the store: STORE/filters/<profile hash>.bpf.
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <seccomp.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/bpf.hpp"
#include "policy/seccomp_words.hpp"

namespace coracle::policy {

namespace {

// A file is: all that the program depends on, as text; "program <its checksum>"; the program. The text is compared
// whole, so that two profiles of one hash cost a compilation and nothing else.
constexpr std::string_view marker = "program ";
constexpr std::size_t checksum_length = 16;
constexpr std::size_t largest_program = BPF_MAXINSNS * sizeof(struct sock_filter);

// FNV-1a, 64 bits: names files and notices damage. It defends against nobody: who can write to the store can do more.
std::string checksum(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    std::array<char, checksum_length + 1> hex{};
    std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
    return hex.data();
}

std::string source_text(const SeccompProfile& profile) {
    const scmp_version* version = ::seccomp_version();
    return "coracle-bpf 1 libseccomp " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->micro) + " " + std::string(native_seccomp_arch) + "\n" + canonical_text(profile);
}

std::string file_text(const std::string& source, const std::string& program) {
    return source + std::string(marker) + checksum(program) + "\n" + program;
}

// The program of an undamaged file of just this profile.
std::optional<std::string> program_of(std::string_view file, const std::string& source) {
    const std::size_t head = source.size() + marker.size() + checksum_length + 1;
    if (file.size() <= head) return std::nullopt;
    std::string program(file.substr(head));
    const bool whole = program.size() % sizeof(struct sock_filter) == 0 && file == file_text(source, program);
    return whole ? std::optional(std::move(program)) : std::nullopt;
}

}  // namespace

std::string profile_hash(const SeccompProfile& profile) { return checksum(source_text(profile)); }

Result<std::string> cached_bpf(int store_fd, const SeccompProfile& profile) {
    if (!profile.confines()) return std::string();
    const std::string source = source_text(profile);
    const std::string name = "filters/" + checksum(source) + ".bpf";
    const Bytes bound{source.size() + largest_program + 64};
    if (const auto file = base::read_file_at(store_fd, name, bound)) {
        if (auto program = program_of(file.value(), source)) return std::move(*program);
    }
    TRY(std::string program, compile_bpf(profile));
    // Best effort: a full or read-only store must not stop a run whose filter is at hand.
    if (base::make_dir_at(store_fd, "filters")) {
        (void)base::replace_file_at(store_fd, name, file_text(source, program), base::Durability::cache);
    }
    return program;
}

}  // namespace coracle::policy

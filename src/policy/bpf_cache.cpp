// Keeps compiled seccomp programs in the store: STORE/filters/<hash>.bpf.
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <sys/utsname.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/bpf.hpp"
#include "policy/seccomp_forms.hpp"
#include "policy/seccomp_words.hpp"

namespace coracle::policy {

namespace {

// A file is: all that the program depends on, as text; "program <its checksum>"; the program. The text is compared
// whole, so that two profiles of one hash cost a compilation and nothing else. It is the profile as written, not as
// read: reading takes a millisecond, which a run that finds its program does not have to spend.
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

// The kernel is in it for Docker's `minKernel`, coracle's own code for the way profiles are read.
std::string dependencies() {
    const scmp_version* version = ::seccomp_version();
    struct utsname kernel {};
    ::uname(&kernel);
    return "coracle-bpf " + std::string(seccomp_revision()) + "\nlibseccomp " + std::to_string(version->major) + "." +
           std::to_string(version->minor) + "." + std::to_string(version->micro) + " " +
           std::string(native_seccomp_arch) + "\nkernel " + kernel.release + "\n";
}

std::string source_of(const std::string& profile_text, const std::vector<std::string>& capabilities) {
    std::string source = dependencies() + "capabilities";
    for (const std::string& name : capabilities) source += " " + name;
    return source + "\n" + profile_text + "\n";
}

std::string file_text(const std::string& source, const std::string& program) {
    return source + std::string(marker) + checksum(program) + "\n" + program;
}

// The program of an undamaged file of just this source.
std::optional<std::string> program_of(std::string_view file, const std::string& source) {
    const std::size_t head = source.size() + marker.size() + checksum_length + 1;
    if (file.size() <= head) return std::nullopt;
    std::string program(file.substr(head));
    const bool whole = program.size() % sizeof(struct sock_filter) == 0 && file == file_text(source, program);
    return whole ? std::optional(std::move(program)) : std::nullopt;
}

std::optional<std::string> find_program(int store_fd, const std::string& name, const std::string& source) {
    const auto file = base::read_file_at(store_fd, name, Bytes{source.size() + largest_program + 64});
    return file ? program_of(file.value(), source) : std::nullopt;
}

// Best effort: a full or read-only store must not stop a run whose filter is at hand.
void keep_program(int store_fd, const std::string& name, const std::string& content) {
    if (!base::make_dir_at(store_fd, "filters")) return;
    (void)base::replace_file_at(store_fd, name, content, base::Durability::cache);
}

Result<std::string> compile_text(const std::string& text, const std::vector<std::string>& capabilities) {
    TRY(const SeccompProfile profile, parse_seccomp(text, capabilities));
    return compile_bpf(profile);
}

}  // namespace

Result<std::string> cached_bpf(int store_fd, const std::string& name_or_path,
                               const std::vector<std::string>& capabilities) {
    if (name_or_path == unconfined_seccomp) return std::string();
    TRY(const std::string text, seccomp_text(name_or_path));
    const std::string source = source_of(text, capabilities);
    const std::string name = "filters/" + checksum(source) + ".bpf";
    if (auto program = find_program(store_fd, name, source)) return std::move(*program);
    TRY(std::string program, compile_text(text, capabilities).within(seccomp_context(name_or_path)));
    keep_program(store_fd, name, file_text(source, program));
    return program;
}

}  // namespace coracle::policy

// Implements the part of classic BPF that seccomp programs use (net/core/filter.c, bpf_check_classic).
#include "support/bpf_machine.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <cstring>
#include <vector>

namespace coracle::testing {

namespace {

std::string verdict_text(std::uint32_t value) {
    const std::uint32_t data = value & SECCOMP_RET_DATA;
    switch (value & SECCOMP_RET_ACTION_FULL) {
        case SECCOMP_RET_ALLOW: return "allow";
        case SECCOMP_RET_ERRNO: return "errno " + std::to_string(data);
        case SECCOMP_RET_KILL_PROCESS: return "kill_process";
        case SECCOMP_RET_KILL_THREAD: return "kill_thread";
        case SECCOMP_RET_LOG: return "log";
        case SECCOMP_RET_TRAP: return "trap";
        default: return "broken: unknown answer";
    }
}

std::uint32_t load(const seccomp_data& data, std::uint32_t offset) {
    std::uint32_t word = 0;
    if (offset % 4 == 0 && offset < sizeof data) {
        std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
    }
    return word;
}

bool jump_condition(std::uint16_t code, std::uint32_t a, std::uint32_t k) {
    switch (BPF_OP(code)) {
        case BPF_JEQ: return a == k;
        case BPF_JGT: return a > k;
        case BPF_JGE: return a >= k;
        default: return (a & k) != 0;  // BPF_JSET
    }
}

std::string run(const std::vector<sock_filter>& program, const seccomp_data& data) {
    std::uint32_t a = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        const sock_filter& step = program[at];
        switch (step.code) {
            case BPF_LD | BPF_W | BPF_ABS: a = load(data, step.k); break;
            case BPF_ALU | BPF_AND | BPF_K: a &= step.k; break;
            case BPF_JMP | BPF_JA: at += step.k; break;
            case BPF_JMP | BPF_JEQ | BPF_K:
            case BPF_JMP | BPF_JGT | BPF_K:
            case BPF_JMP | BPF_JGE | BPF_K:
            case BPF_JMP | BPF_JSET | BPF_K: at += jump_condition(step.code, a, step.k) ? step.jt : step.jf; break;
            case BPF_RET | BPF_K: return verdict_text(step.k);
            default: return "broken: instruction " + std::to_string(step.code);
        }
    }
    return "broken: no return";
}

}  // namespace

SystemCall native_call(std::string_view name, std::array<std::uint64_t, 6> args) {
    const int number = ::seccomp_syscall_resolve_name(std::string(name).c_str());
    return {.arch = ::seccomp_arch_native(), .number = number < 0 ? -1 : number, .args = args};
}

std::string answer_of(const std::string& program, const SystemCall& call) {
    if (program.empty() || program.size() % sizeof(sock_filter) != 0) return "broken: size";
    std::vector<sock_filter> steps(program.size() / sizeof(sock_filter));
    std::memcpy(steps.data(), program.data(), program.size());
    seccomp_data data{.nr = call.number, .arch = call.arch, .instruction_pointer = 0, .args = {}};
    for (std::size_t i = 0; i < call.args.size(); ++i) data.args[i] = call.args[i];
    return run(steps, data);
}

}  // namespace coracle::testing

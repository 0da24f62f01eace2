// Turns a seccomp profile into the program that the kernel runs, once, and keeps the result in the store.
#pragma once

#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "policy/seccomp.hpp"

namespace coracle::policy {

// The bytes of the `struct sock_filter[]` for seccomp(2), for this machine's architecture alone: a call by another ABI
// (i386's int 0x80, x32) ends the process. Empty for "unconfined": there is nothing to load. Error: invalid_request
// for a profile that libseccomp cannot express or that is too large for the kernel.
Result<std::string> compile_bpf(const SeccompProfile& profile);

// find_seccomp and compile_bpf in one, with the answer kept in STORE/filters/<hash>.bpf, where `store_fd` is STORE: one
// run pays 7 ms, the next ones read two files. A file that is missing, damaged or of another profile is written anew; a
// store that cannot be written to (or -1) only costs the time.
Result<std::string> cached_bpf(int store_fd, const std::string& name_or_path,
                               const std::vector<std::string>& capabilities = {});

}  // namespace coracle::policy

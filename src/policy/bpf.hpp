// Turns a seccomp profile into the program that the kernel runs, once, and keeps the result in the store.
#pragma once

#include <string>

#include "coracle/error.hpp"
#include "policy/seccomp.hpp"

namespace coracle::policy {

// The bytes of the `struct sock_filter[]` for seccomp(2), for this machine's architecture alone: a call by another ABI
// (i386's int 0x80, x32) ends the process. Empty for "unconfined": there is nothing to load. Error: invalid_request
// for a profile that libseccomp cannot express or that is too large for the kernel.
Result<std::string> compile_bpf(const SeccompProfile& profile);

// 16 hex digits that name the profile together with the version of libseccomp that compiles it.
std::string profile_hash(const SeccompProfile& profile);

// compile_bpf's answer from STORE/filters/<profile hash>.bpf, where `store_fd` is STORE. A file that is missing,
// damaged or of another profile is written anew; a store that cannot be written to only costs the time of compiling.
Result<std::string> cached_bpf(int store_fd, const SeccompProfile& profile);

}  // namespace coracle::policy

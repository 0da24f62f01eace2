// The kernel's capabilities by name, and the set that a program gets from what was added and dropped.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::policy {

// capabilities(7), in the order of their numbers: 0 is CAP_CHOWN, 40 is CAP_CHECKPOINT_RESTORE (Linux 5.9; none has
// been added up to 6.18).
inline constexpr std::array<std::string_view, 41> capability_names{"CAP_CHOWN",
                                                                   "CAP_DAC_OVERRIDE",
                                                                   "CAP_DAC_READ_SEARCH",
                                                                   "CAP_FOWNER",
                                                                   "CAP_FSETID",
                                                                   "CAP_KILL",
                                                                   "CAP_SETGID",
                                                                   "CAP_SETUID",
                                                                   "CAP_SETPCAP",
                                                                   "CAP_LINUX_IMMUTABLE",
                                                                   "CAP_NET_BIND_SERVICE",
                                                                   "CAP_NET_BROADCAST",
                                                                   "CAP_NET_ADMIN",
                                                                   "CAP_NET_RAW",
                                                                   "CAP_IPC_LOCK",
                                                                   "CAP_IPC_OWNER",
                                                                   "CAP_SYS_MODULE",
                                                                   "CAP_SYS_RAWIO",
                                                                   "CAP_SYS_CHROOT",
                                                                   "CAP_SYS_PTRACE",
                                                                   "CAP_SYS_PACCT",
                                                                   "CAP_SYS_ADMIN",
                                                                   "CAP_SYS_BOOT",
                                                                   "CAP_SYS_NICE",
                                                                   "CAP_SYS_RESOURCE",
                                                                   "CAP_SYS_TIME",
                                                                   "CAP_SYS_TTY_CONFIG",
                                                                   "CAP_MKNOD",
                                                                   "CAP_LEASE",
                                                                   "CAP_AUDIT_WRITE",
                                                                   "CAP_AUDIT_CONTROL",
                                                                   "CAP_SETFCAP",
                                                                   "CAP_MAC_OVERRIDE",
                                                                   "CAP_MAC_ADMIN",
                                                                   "CAP_SYSLOG",
                                                                   "CAP_WAKE_ALARM",
                                                                   "CAP_BLOCK_SUSPEND",
                                                                   "CAP_AUDIT_READ",
                                                                   "CAP_PERFMON",
                                                                   "CAP_BPF",
                                                                   "CAP_CHECKPOINT_RESTORE"};

// "net_bind_service", "NET_BIND_SERVICE" and "CAP_NET_BIND_SERVICE" are all "CAP_NET_BIND_SERVICE". Error:
// invalid_request, with a did-you-mean.
Result<std::string> parse_capability(std::string_view text);

// What remains of `add` after `drop`, in the order of the numbers, each once. "ALL" may be dropped (then nothing
// remains) but not added: an Error that says so.
Result<std::vector<std::string>> combine_capabilities(const std::vector<std::string>& add,
                                                      const std::vector<std::string>& drop);

}  // namespace coracle::policy

// Tries in a child what a sandbox will need of namespaces and mounts, one step after the other.
#pragma once

#include <optional>

namespace coracle::host {

// The errno of each step, 0 where it works; no value where an earlier one failed.
struct NamespaceSteps {
    std::optional<int> user{};   // a user namespace; 0 for root, which needs none
    std::optional<int> map{};    // the caller's own id in it
    std::optional<int> mount{};  // a mount namespace: EPERM after a user namespace that works is a security module
    std::optional<int> pid{};
    std::optional<int> network{};
    std::optional<int> proc{};     // a /proc of the new pid namespace: EPERM where the host's /proc is masked
    std::optional<int> overlay{};  // a read-only overlay of two directories
};

NamespaceSteps try_namespaces(bool privileged);

}  // namespace coracle::host

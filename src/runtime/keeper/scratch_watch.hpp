// Measures what a run has written to its scratch on disk. A quota of the file system would need its administrator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime::keeper {

// Counts what has a name there, and what has none any more but is held open by a descriptor; not what is only mapped,
// or in flight between sockets. What is written between two looks is what the limit may be exceeded by.
class ScratchWatch {
public:
    explicit ScratchWatch(const KeeperRootfs& rootfs) : path_(rootfs.scratch), most_(rootfs.upper_bytes) {}

    // How long to wait for the next look; -1: none is needed.
    int milliseconds() const { return path_.empty() || said_ ? -1 : 50; }
    // A value once it is too much.
    std::optional<KeeperOverflow> look();

private:
    std::string path_;
    std::uint64_t most_;
    bool said_ = false;
};

}  // namespace coracle::runtime::keeper

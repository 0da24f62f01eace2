// What a whiteout does to the tree of its layer, as overlayfs reads it.
#pragma once

#include <string>

#include "coracle/error.hpp"

namespace coracle::layer {

// Which xattr namespace marks an opaque directory: `trusted` needs CAP_SYS_ADMIN in the initial user namespace, `user`
// is read by overlay mounts with the option userxattr (Linux 5.11).
enum class OpaqueMark { trusted, user };
const char* xattr_name(OpaqueMark mark);

// A whiteout hides what lower layers hold and nothing of its own layer, whichever comes first in the tar. A character
// device 0/0 hides a name, an xattr a directory's lower content (kernel: Documentation/filesystems/overlayfs.rst,
// "whiteouts and opaque directories").
class Whiteouts {
public:
    explicit Whiteouts(OpaqueMark mark) : mark_(mark) {}

    Result<> hide(int parent_fd, const std::string& name) const;  // ".wh.NAME"
    Result<> hide_content(int dir_fd) const;                      // ".wh..wh..opq"

private:
    OpaqueMark mark_;
};

// True for the character device 0/0. Layers cannot bring one of their own: devices are skipped.
bool is_whiteout_device(int parent_fd, const std::string& name);

}  // namespace coracle::layer

// What a whiteout does to the tree being written: two styles behind one interface.
#pragma once

#include <memory>
#include <string>

#include "coracle/error.hpp"

namespace coracle::layer {

// A whiteout hides what lower layers hold and nothing of its own layer, whichever comes first in the tar.
class Whiteouts {
public:
    virtual ~Whiteouts() = default;

    // A new layer begins in the same tree.
    virtual void begin_layer() {}
    // `name` in `parent_fd` was made by this layer, or is a directory that holds something made by it.
    virtual Result<> note(int parent_fd, const std::string& name) = 0;
    // True where `name` exists and was there before this layer.
    virtual bool is_lower(int parent_fd, const std::string& name) const = 0;

    virtual Result<> hide(int parent_fd, const std::string& name) = 0;  // ".wh.NAME"
    virtual Result<> hide_content(int dir_fd) = 0;                      // ".wh..wh..opq"
};

// Which xattr namespace marks an opaque directory: `trusted` needs CAP_SYS_ADMIN in the initial user namespace, `user`
// is read by overlay mounts with the option userxattr (Linux 5.11).
enum class OpaqueMark { trusted, user };
const char* xattr_name(OpaqueMark mark);

// One layer's tree on its own, to be stacked by overlayfs: a character device 0/0 hides a name, an xattr a directory's
// lower content (kernel: Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories").
std::unique_ptr<Whiteouts> overlay_whiteouts(OpaqueMark mark);

// All layers in one tree: what is hidden is removed.
std::unique_ptr<Whiteouts> flat_whiteouts();

// True for the character device 0/0. Layers cannot bring one of their own: devices are skipped.
bool is_whiteout_device(int parent_fd, const std::string& name);

}  // namespace coracle::layer

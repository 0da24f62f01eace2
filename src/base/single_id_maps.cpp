// Implements the id maps that need no helper; on its own, since the keeper links this alone.
#include <fcntl.h>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/userns.hpp"

namespace coracle::base {

namespace {

std::string line_of(const IdRange& range) {
    return std::to_string(range.inside) + " " + std::to_string(range.outside) + " 1\n";
}

}  // namespace

Result<> write_single_id_maps(const std::string& process, const IdRange& uid, const IdRange& gid) {
    // Without it an unprivileged process may not write gid_map (user_namespaces(7)).
    TRY_OK(write_value_at(AT_FDCWD, process + "/setgroups", "deny"));
    TRY_OK(write_value_at(AT_FDCWD, process + "/uid_map", line_of(uid)));
    return write_value_at(AT_FDCWD, process + "/gid_map", line_of(gid));
}

}  // namespace coracle::base

// Implements the removal of a dead run's directories.
#include "runtime/keeper/estate.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"

namespace coracle::runtime::keeper {

namespace {

// EBUSY for a moment after the last process has gone.
void remove_cgroup(const base::UniqueFd& parent, const std::string& name) {
    const std::string runtimes_own = name + "/container";  // where the runtime manages cgroups itself
    for (int tries = 0; tries < 200; ++tries) {
        (void)::unlinkat(parent.get(), runtimes_own.c_str(), AT_REMOVEDIR);
        if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY) return;
        ::usleep(1000);
    }
}

// systemd removes a scope, with all below it, when its last process leaves it. One whose process died on the way in has
// none to leave, and would stay: so this process waits for a move that may have been asked for.
void wait_for_the_move_into(const std::string& scope) {
    constexpr int tries = 500;
    for (int left = tries; left > 0; --left) {
        const auto memberships = base::read_file("/proc/self/cgroup", 64_KiB);
        if (!memberships || memberships.value().find("/" + scope) != std::string::npos) return;
        ::usleep(10'000);
    }
}

}  // namespace

Estate::Estate(int argc, char** argv) : id_(argv[1]), stage_(std::string(argv[2]) + "/" + id_ + "/stage") {
    for (int i = 2; i < argc; ++i) {
        parents_.emplace_back(::open(argv[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const std::string_view path = argv[i];
        if (!parents_.back()) scope_ = path.substr(path.rfind('/') + 1);
    }
}

void Estate::remove() const {
    for (std::size_t i = 1; i < parents_.size(); ++i) remove_cgroup(parents_[i], "coracle-" + id_);
    ::umount2(stage_.c_str(), MNT_DETACH);
    (void)base::remove_tree_at(parents_.front().get(), id_);
    if (!scope_.empty()) wait_for_the_move_into(scope_);
}

}  // namespace coracle::runtime::keeper

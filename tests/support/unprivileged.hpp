// While it lives, a test that runs as root is an ordinary user, so that permission bits hold; others stay who they are.
#pragma once

#include <unistd.h>

#include <filesystem>

namespace coracle::test {

class Unprivileged {
public:
    // `own` is given to that user first. The real ids change too: access(2) looks at them.
    explicit Unprivileged(const std::filesystem::path& own) {
        if (::geteuid() != 0) return;
        changed_ = ::chown(own.c_str(), nobody, nobody) == 0 && ::setresgid(nobody, nobody, 0) == 0 &&
                   ::setresuid(nobody, nobody, 0) == 0;
    }
    ~Unprivileged() {
        if (changed_ && (::setresuid(0, 0, 0) != 0 || ::setresgid(0, 0, 0) != 0)) ::_exit(99);
    }
    Unprivileged(const Unprivileged&) = delete;
    Unprivileged& operator=(const Unprivileged&) = delete;

private:
    static constexpr uid_t nobody = 65534;
    bool changed_ = false;
};

}  // namespace coracle::test

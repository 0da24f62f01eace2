// The program coracle-image: one job as a line of JSON on stdin, events and the answer as lines on stdout.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

#include "pull/serve.hpp"

namespace {

// Whoever gave the job holds the other end of stdin as long as it lives.
bool is_caller_gone() {
    pollfd caller{.fd = STDIN_FILENO, .events = 0, .revents = 0};
    return ::poll(&caller, 1, 0) == 1 && (caller.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

int main() {
    // Nobody waits for the work of a program whose caller is dead; that it died before this call shows at stdin.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
    std::ios::sync_with_stdio(false);
    std::string line;
    if (!std::getline(std::cin, line) || is_caller_gone()) return 1;
    std::cout << coracle::pull::serve(line, [](const std::string& event) { std::cout << event << std::endl; })
              << std::endl;
    return std::cout.good() ? 0 : 1;
}

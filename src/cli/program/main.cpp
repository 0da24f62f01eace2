// The program coracle: its arguments, its three descriptors and the real engine.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/cli.hpp"

namespace {

// A closed 0, 1 or 2 would be the number of the next file that is opened, the store among them, and the program would
// get it as its stream. open(2) takes the lowest free number.
void fill_standard_streams() {
    while (true) {
        const int fd = ::open("/dev/null", O_RDWR);
        if (fd < 0 || fd > 2) {
            if (fd > 2) ::close(fd);
            return;
        }
    }
}

}  // namespace

int main(int count, char** words) {
    fill_standard_streams();
    // A limit on file sizes then is an error that can be told, not the end of coracle.
    ::signal(SIGXFSZ, SIG_IGN);
    // So is a reader of our output that has gone: a run must not lose its record for it.
    ::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> args(words + (count > 0 ? 1 : 0), words + count);
    return coracle::cli::run_cli(args, coracle::Streams{}, coracle::Engine::open);
}

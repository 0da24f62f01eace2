// The program coracle: its arguments, its three descriptors and the real engine.
#include <string>
#include <vector>

#include "cli/cli.hpp"

int main(int count, char** words) {
    const std::vector<std::string> args(words + (count > 0 ? 1 : 0), words + count);
    return coracle::cli::run_cli(args, coracle::Streams{}, coracle::Engine::open);
}

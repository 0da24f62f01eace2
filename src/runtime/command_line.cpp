// Implements the two runtimes' command lines.
#include "runtime/command_line.hpp"

#include "runtime/keeper_protocol.hpp"

namespace coracle::runtime {

std::vector<std::string> run_detached(const plan::Runtime& runtime, const CommandLine& line) {
    const StagePaths paths = stage_paths(line.stage);
    std::vector<std::string> words{runtime.path.string(), "--root", paths.state, "--log", paths.log,
                                   "--log-format",        "json"};
    if (!line.manages_cgroups) {
        // Both then leave cgroups to us: runc gives up on them where they are read-only and it takes itself for
        // rootless, crun has a word for it.
        if (runtime.kind == plan::RuntimeKind::crun) words.emplace_back("--cgroup-manager=disabled");
        if (runtime.kind == plan::RuntimeKind::runc) words.emplace_back("--rootless=true");
    }
    for (const char* word : {"run", "--detach", "--preserve-fds", "1", "--pid-file"}) words.emplace_back(word);
    words.push_back(paths.pid_file);
    words.emplace_back("--bundle");
    words.push_back(line.bundle);
    words.push_back(line.id);
    return words;
}

}  // namespace coracle::runtime

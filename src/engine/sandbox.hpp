// The owners of one run's host state, in the order in which they are acquired and outlive each other.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "cgroup/cgroup.hpp"
#include "coracle/error.hpp"
#include "engine/prepared.hpp"
#include "runtime/container.hpp"
#include "runtime/programs.hpp"
#include "runtime/run_directory.hpp"

namespace coracle::engine {

struct SandboxOptions {
    std::string id;
    std::filesystem::path runs;
    runtime::Programs programs;
    std::string scratch;  // directory on disk for what the program writes; empty: in memory
    int cancel_fd = -1;
    std::function<void()> meanwhile{};  // called while the runtime creates the container
};

// Born with the keeper: from then on whatever is acquired under the run's names goes when this process dies.
struct Sandbox {
    runtime::RunDirectory directory;
    cgroup::Cgroup cgroup;
    runtime::Container container;

    // The container waits for its job. `config` is the bundle's config.json.
    static Result<Sandbox> create(const Prepared& prepared, const SandboxOptions& options, std::string_view config);
    // Once nothing runs in it. What cannot be removed now, and all of it where something is `stuck`, is a later start's
    // to sweep: the directory with the record of it stays then.
    Result<> retire(bool stuck) &&;
};

// Where the runtime's configuration finds the root file system of a run.
std::string root_path(const SandboxOptions& options);

}  // namespace coracle::engine
